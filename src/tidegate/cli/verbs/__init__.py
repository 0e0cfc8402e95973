"""The verbs that nouns share: get, create, delete, wait, cancel, logs.

`attach` adds them to a noun's group of commands. Nothing here knows a noun.
"""
