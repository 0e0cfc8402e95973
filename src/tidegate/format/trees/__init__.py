"""A file tree as one image: packed contents, and a manifest with a line for each entry.

Read `entry`, `manifest` and `packed_tree`.
"""
