"""Keeps the queue of backups moving: New -> Queued -> ReadyToStart.

Read `backup_queue`. What may start is decided in `decide.queue`.
"""
