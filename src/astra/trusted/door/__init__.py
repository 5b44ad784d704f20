"""What a request passes at the loopback port before any route sees it."""
