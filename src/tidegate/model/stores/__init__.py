"""Backup targets, what the catalogue knows of them, and deletions.

Read `target`, then `catalogue`.
"""
