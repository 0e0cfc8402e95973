"""Keeps the queue of backups moving: New -> Queued -> ReadyToStart.

Read `backup_queue`; `mirror` keeps its table up to date. What may start is decided in `decide.queue`.
"""
