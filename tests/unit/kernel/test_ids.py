from astra.trusted.kernel import ids


def test_the_same_content_has_the_same_id() -> None:
    assert ids.id_from_content("des", "a", "b") == ids.id_from_content("des", "a", "b")


def test_an_id_is_lengthened_until_nobody_else_owns_it() -> None:
    short = ids.id_from_content("des", "a")
    longer = ids.id_from_content("des", "a", taken=lambda identifier: identifier == short)
    assert longer.startswith(short)
    assert len(longer) == len(short) + 4


def test_when_every_shorter_id_is_taken_the_whole_hash_is_used() -> None:
    assert len(ids.id_from_content("des", "a", taken=lambda _id: True)) == len("des_") + 64


def test_random_ids_are_ids_and_differ() -> None:
    first, second = ids.random_id("cor"), ids.random_id("cor")
    assert ids.is_id(first)
    assert first != second
    assert ids.id_kind(first) == "cor"
