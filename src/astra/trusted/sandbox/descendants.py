"""The processes below one, as the kernel tells them."""

import os
from pathlib import Path


def list_process_tree(init: int) -> list[int]:
    """List a box's processes: all descend from its init, which adopts the daemonised ones."""
    pids = [init]
    for pid in pids:
        pids.extend(_list_children(pid))
    return pids


def _list_children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are enough
    except OSError:
        return []
    return [child for thread in threads for child in _children_of_thread(pid, thread)]


def _children_of_thread(pid: int, thread: str) -> list[int]:
    """Read them thread by thread: one that ends meanwhile must not hide those of the others."""
    try:
        children = Path(f"/proc/{pid}/task/{thread}/children").read_bytes()
    except OSError:
        return []
    # As bytes: a codec that is looked for first by the boxes' user, who may not read the library,
    # counts as unknown to the whole process from then on.
    return [int(child) for child in children.split()]
