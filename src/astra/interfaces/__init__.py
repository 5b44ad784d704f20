"""The doors: command line, daemon and HTTP. They parse, call and render."""
