"""`tidegate backup`, and Longhorn's own verbs on a store.

Read `backup`; `wishes` holds the options that say what is protected, for schedules too.
"""
