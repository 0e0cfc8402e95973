"""The commands, one file per noun: an HTTP client of the API with good manners.

Imports stay light, because `tidegate --help` and shell completion must be quick; what is heavy is imported where it
is used. Nothing here touches the server's state but through HTTP.
"""
