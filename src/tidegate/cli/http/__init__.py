"""The API as Python calls: finding the server, sending requests, following events.

Read `client` first. Every problem leaves here as one of our errors.
"""
