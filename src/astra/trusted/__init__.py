"""What must be right for Astra to hold."""
