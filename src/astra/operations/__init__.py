"""Running Astra: quick checks of the running server, and alerts that follow from its numbers."""
