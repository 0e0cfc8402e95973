"""Backup stores for tests: faulty, late, far away, cut off from power, or with years in them."""
