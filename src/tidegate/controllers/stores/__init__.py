"""Keeps targets and the catalogue true to the stores, and carries deletions out.

Read `target`, `catalogue_sync` and `deletion`. A failed listing is never taken for an empty one.
"""
