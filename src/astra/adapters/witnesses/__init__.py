"""Places outside the data root that keep checkpoints, by technology."""
