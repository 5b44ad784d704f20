"""The world, one technology per module: files, SQLite, git, sandbox."""
