"""Removing and mending: backups, whole volumes, garbage, locks and lost records.

Read `remove`, then `gc`. Only what is surely unneeded goes.
"""
