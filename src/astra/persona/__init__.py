"""What the persona gets to know without asking."""
