"""A release on many instances: waves, their rules, and the duty of each instance."""
