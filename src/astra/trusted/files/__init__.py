"""A data root's folders, the operator's key file, and files opened without following links."""
