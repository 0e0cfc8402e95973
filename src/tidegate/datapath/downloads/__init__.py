"""Reading one backup: blocks are fetched ahead and checked before anything sees them."""
