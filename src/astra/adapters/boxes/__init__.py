"""Work that runs in boxes: for whom, with which manifest, and what its end is recorded as."""
