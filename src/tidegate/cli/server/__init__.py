"""`tidegate setting`, `config` and `version`: how the server and this command are set up."""
