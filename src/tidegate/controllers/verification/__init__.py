"""Carries verifications to their end, and makes those of schedules when they are due.

Read `line` for the start, then `verification` and `downloads`.
"""
