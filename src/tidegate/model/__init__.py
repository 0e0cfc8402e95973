"""The nouns: every kind of resource, frozen and self-checking.

One pydantic model per kind is the source of the REST schema and of the stored form. What lives here knows how it is
written down and which values make sense by themselves; it does not know what to do next (that is `decide/`), and it
does no I/O. Wire names are camelCase, Python names are snake_case.
"""
