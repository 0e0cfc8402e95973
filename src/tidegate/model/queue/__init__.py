"""The queue as the API describes it: who waits for what, and a workload to try limits with."""
