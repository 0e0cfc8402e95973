"""What a write means for every kind: admission and life cycle.

Read `lifecycle` first. It may know every subject, because it is asked about every kind; no subject knows it.
"""
