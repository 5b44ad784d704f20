"""Telling people who are not looking that something waits for them."""
