"""What backups, restores and verifications have in common: their events, and what their transfers add up to.

Read `rollup` first, which knows no kind of job. `events` records what happens to each kind.
"""
