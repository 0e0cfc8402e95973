"""Implementations of the ObjectStore: directories and memory by hand, the stores behind a network through obstore.

Only this room knows the errors of the operating system and of libraries; it translates them at the edge. Nothing here
knows what the bytes mean.
"""
