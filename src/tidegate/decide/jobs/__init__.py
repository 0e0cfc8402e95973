"""What backups, restores and verifications have in common: their events, and what their transfers add up to.

Read `rollup` first. Nothing here knows which kind of job it is about.
"""
