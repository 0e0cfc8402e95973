"""REST under `/v1`, the event stream, health and metrics, and who may call them.

The only writer of specs. Turns every error of the tree into a problem document. Chooses no implementation: it is
given its ports by `app/`.
"""
