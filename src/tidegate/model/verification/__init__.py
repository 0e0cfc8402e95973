"""Verifications: requests to prove that a backup restores, by restoring it."""
