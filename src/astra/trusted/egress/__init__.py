"""The proxy through which a box reaches the hosts it was granted, and no others."""
