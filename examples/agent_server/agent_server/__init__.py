"""A small agent server: an HTTP API, a background loop, state on disk, and a page to look at."""
