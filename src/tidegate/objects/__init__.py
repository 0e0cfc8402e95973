"""Implementations of the ObjectStore: every store is reached through obstore.

Only this room knows the library's errors; it translates them at the edge. Nothing here knows what the bytes mean.
"""
