"""A local index of what all stores hold, in a database of its own that can always be made anew from the stores.

It is written by the sync alone (and by wishes to delete), through readers of stores that cannot write.
"""
