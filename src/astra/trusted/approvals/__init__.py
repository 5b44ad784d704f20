"""A person's one-time word for exactly one thing."""
