"""`tidegate volume` and `tidegate namespace`: what there is to protect."""
