"""System backups and system restores: what becomes of each volume and of each definition, with a reason.

Read `backup`, then `restore` and `restore_volumes`.
"""
