"""Tasks: what is to be done once, on disk before anything of it runs."""
