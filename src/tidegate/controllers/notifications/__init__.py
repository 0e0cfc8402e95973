"""Notes what each rule has to be sent, and delivers it.

Read `notifications`, then `courier`.
"""
