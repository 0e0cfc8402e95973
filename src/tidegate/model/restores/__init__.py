"""Restores, and the plan that says what one would do.

Read `restore` first.
"""
