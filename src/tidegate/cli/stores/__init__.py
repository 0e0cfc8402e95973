"""`tidegate target`, `catalog`, `backup-volume`, `deletion` and `store`.

The files that begin with `store_` work on a store themselves, without a server; the others are clients of the API.
"""
