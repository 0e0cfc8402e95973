"""Parts of a real machine for tests: server processes, a browser, certificates, privileges."""
