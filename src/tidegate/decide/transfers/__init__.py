"""How a transfer passes its gates, and what happens next to it.

Read `gates` first, then the three gates (`restore_limit`, `prepare_queue`, `node_load`), and `steps` for one transfer
after its gates; `step` lists what `steps` can answer; `takeover` is about a transfer that another server began.
`table` is what the gates are planned from. No gate knows what a transfer is for.
"""
