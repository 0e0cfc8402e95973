"""Carries system backups and system restores to their end.

Read `backup`, then `restore`; `backup_sync` finds the archives that others wrote.
"""
