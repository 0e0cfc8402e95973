"""Looking into a store without changing it: listing, browsing, verifying.

Read `verify` first. Nothing here writes to a store.
"""
