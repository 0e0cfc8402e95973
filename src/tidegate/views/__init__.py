"""One picture of a state, for the API, the CLI and the page alike.

Pure: resources in, rows and sentences out. Nothing here decides anything and nothing here prints.
"""
