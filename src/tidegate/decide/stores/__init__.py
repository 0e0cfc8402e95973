"""What becomes of a store: whether it is the right one, when it is synced, what a sync changes, and what is deleted.

Read `identity` and `target_away` for whether a store may be used at all, then `sync_schedule` and `catalogue_diff`.
Nothing here decides by the absence of something that could not be listed.
"""
