"""What one machine gives the ports: its clock, its directories, secrets, hooks and nodes."""
