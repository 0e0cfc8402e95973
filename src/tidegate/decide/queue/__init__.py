"""Which backups may start now, and why the others may not.

Read `overlap`, `claims` and `plan`, in this order; `order` says who comes first. `table` is what the plan is made from,
`standing`, `chain`, `race` and `forecast` answer questions about one backup, and `simulation` runs the whole queue on a
clock that only jumps. Nothing here starts anything.
"""
