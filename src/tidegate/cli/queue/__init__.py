"""`tidegate queue`: who waits for what; `simulation` plays a workload on this machine, without a server."""
