"""Backing one volume up: read, hash, compress, store, and write the cfg last.

Read `upload`, then `moved_blocks` and `assembly_line`.
"""
