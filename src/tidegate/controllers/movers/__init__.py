"""Holds the movers of this server: their jobs, their reports and their bandwidth.

Read `supervisor` first, then `takeover`, which adopts what another server began. A mover's report wakes a reconciler
and writes nothing.
"""
