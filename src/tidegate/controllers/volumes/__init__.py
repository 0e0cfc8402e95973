"""Keeps the status of each volume true: its last backup and its last failure."""
