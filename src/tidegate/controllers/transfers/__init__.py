"""Lets transfers through their gates and carries each one to its end.

Read `gates`, then `transfer`; `mirror` keeps the table of the gates up to date.
"""
