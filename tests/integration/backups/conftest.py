from record_world import pristine, witnessed, world

__all__ = ["pristine", "witnessed", "world"]
