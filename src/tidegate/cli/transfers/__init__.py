"""`tidegate transfer`, `node` and `load`: what moves, where, and how much each node may carry."""
