"""From files to a merged commit: admission, what a signature binds, and the merge itself."""
