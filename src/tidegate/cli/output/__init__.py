"""What a command prints: data on stdout, everything else on stderr.

Read `terminal`, then `resources` and `displays`.
"""
