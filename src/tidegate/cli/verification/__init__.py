"""`tidegate verify`: ask for a proof that backups restore, and wait for it."""
