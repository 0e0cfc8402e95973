"""Directories: one walk that reads them, and the writers that bring them back.

Read `scan` and `directory` for the way out, `sink` and `writer` for the way back. No link is ever followed out of a
tree.
"""
