"""Goals: what is to be achieved. A desire becomes one when the operator signs it."""
