"""`tidegate system backup` and `tidegate system restore`.

`commands` joins them under one noun.
"""
