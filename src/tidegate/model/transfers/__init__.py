"""Transfers, the nodes they run on, and what a mover and the server say to each other.

Read `transfer`, then `mover_job`.
"""
