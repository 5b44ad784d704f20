"""The command line: a light client of the daemon."""
