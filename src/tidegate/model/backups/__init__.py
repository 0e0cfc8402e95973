"""Backups: what is asked for, their item blocks and hooks, and how far they are.

Read `backup` first.
"""
