"""Implementations of the ResourceStore: memory and SQLite; Kubernetes comes later.

They do and never decide: what a write means is in `decide.lifecycle`, which all of them share. They do not know of
each other, and only `app/` knows which one is used.
"""
