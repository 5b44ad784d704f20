"""The one process that owns a data root."""
