"""Fakes and builders: a manual clock, resources with only what matters, faulty stores.

Every fake passes the contract suite of its port. Nothing in the product imports this room.
"""
