"""Looking on while tests run: in pieces, from any position, and never without bound."""

from hypothesis import given
from hypothesis import strategies as st

from astra.adapters import live_output
from astra.adapters.live_output import LiveOutput


@given(st.lists(st.binary(max_size=20)), st.integers(0, 50))
def test_whoever_asks_in_pieces_gets_all_of_it_in_order(chunks: list[bytes], start: int) -> None:
    live, seen, position = LiveOutput(), b"", 0
    for chunk in chunks:
        live.feed("chg_1", chunk)
        text, position = live.read("chg_1", position)
        seen += text
    whole = b"".join(chunks)
    assert seen == whole
    assert live.read("chg_1", start)[0] == whole[start:]
    assert live.read("chg_2", 0) == (b"", 0)


def test_only_the_newest_part_of_the_newest_changes_is_kept() -> None:
    live = LiveOutput()
    live.feed("chg_0", b"x" * live_output.MOST_KEPT)
    live.feed("chg_0", b"end")
    text, position = live.read("chg_0", 0)
    assert len(text) == live_output.MOST_KEPT
    assert text.endswith(b"end")
    assert position == live_output.MOST_KEPT + 3
    for number in range(1, live_output.MOST_CHANGES + 1):
        live.feed(f"chg_{number}", b"y")
    assert live.read("chg_0", 0) == (b"", 0)
