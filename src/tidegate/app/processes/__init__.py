"""The processes that work for the server, and both ends of what they say to each other.

Read `children` first; then `mover` with `mover_process`, `nursery` with `nursery_client`, and `sync_process` with
`sync_client`.
"""
