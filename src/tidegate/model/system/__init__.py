"""System backups, and the system restores that bring back what one of them holds."""
