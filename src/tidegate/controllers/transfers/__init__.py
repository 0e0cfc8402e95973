"""Lets transfers through their gates and carries each one to its end.

Read `gates`, then `transfer`; `taking_over` looks at what another server began.
"""
