"""The tree over the records, as everybody who verifies a receipt computes it."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from astra.operations.receipts import compute_root, find_path, hash_leaf, walk_path


@given(st.integers(min_value=1, max_value=70), st.data())
def test_every_leaf_of_every_tree_leads_to_its_root_and_no_other_does(
    size: int, data: st.DataObject
) -> None:
    tree = [bytes([number]) * 32 for number in range(size)]
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    path, root = find_path(tree, index), compute_root(tree)
    assert walk_path(hash_leaf(tree[index]), index, size, path) == root
    assert walk_path(hash_leaf(b"\xff" * 32), index, size, path) != root


def test_the_tree_is_that_of_rfc_9162() -> None:
    """Seven leaves: the root is over four and over three, as the standard splits them."""
    tree = [bytes([number]) * 32 for number in range(7)]
    node = compute_root_of_two
    four = node(node(leaf(0), leaf(1)), node(leaf(2), leaf(3)))
    three = node(node(leaf(4), leaf(5)), leaf(6))
    assert compute_root(tree) == node(four, three)


def leaf(number: int) -> bytes:
    return hash_leaf(bytes([number]) * 32)


def compute_root_of_two(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
