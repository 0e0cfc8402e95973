"""`tidegate token`, `user` and `audit`: who may call the server, and what they did."""
