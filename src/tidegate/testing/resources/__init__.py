"""Resources and their stores for tests: builders, stores that count, crash or answer late."""
