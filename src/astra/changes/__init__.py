"""Changes: from a proposal to a reviewed, proven commit on the target's branch."""
