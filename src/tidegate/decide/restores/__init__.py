"""One restore: what it reads, where each volume goes, what it would do, and when it may start.

Read `source`, `reading`, `places`, `plan` and `queue`, in this order. The limit on concurrent restores is a gate of
transfers.
"""
