"""Carries a restore from its request to its end.

Read `queue` for its start, then `restore` and `downloads`.
"""
