"""What the server knows of the resource store: one cache per kind, fed by one watch per kind, and tables on top.

Read in this order: `cache` (what is held of each kind), `expectations` (own writes that the watch has not brought
back yet), `informer` (list, then watch, for one kind), `cached_store` (the ResourceStore that controllers and API use:
reads from the cache, writes to the store), `derived` (values that are computed once per change), `server_state` (all
of it, as the server has it), then the tables: `queue`, `restores`, `transfers`, `figures`.

Everything here follows from what is stored, so nothing here needs to survive. Nothing here decides: `decide/` gets
snapshots of it. Only `informer` and `cached_store` talk to a store.
"""
