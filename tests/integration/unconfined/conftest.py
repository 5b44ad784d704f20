from yard import yard

__all__ = ["yard"]
