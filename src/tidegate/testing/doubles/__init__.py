"""Stand-ins for ports: movers, hooks, receivers and places that do what the test says."""
