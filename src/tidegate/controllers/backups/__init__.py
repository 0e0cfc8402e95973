"""Carries a backup from ReadyToStart to its end: blocks, uploads and hooks.

Read `backup`, then `blocks` and `uploads`. What happens next is decided in `decide.backups`.
"""
