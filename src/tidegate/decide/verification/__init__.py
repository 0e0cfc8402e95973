"""Which verification runs next, and what its restores prove.

Read `proof`, then `schedule`.
"""
