"""What a request is checked against before anything is stored.

Read `checks` first. Each file looks at what a decision needs and lets `decide` judge.
"""
