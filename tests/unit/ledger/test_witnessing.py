"""Comparing a chain with what a witness keeps: pure, for every history."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.record import Head
from astra.trusted.ledger.witnessing import Judgement, State, judge, list_unpublished

KEY, OTHER = KeyPair.generate(), KeyPair.generate()


@dataclass(frozen=True)
class Chain:
    """A history by the hashes of its records, as a witness sees it."""

    hashes: tuple[str, ...]

    def hash_at(self, sequence: int) -> str | None:
        return self.hashes[sequence - 1] if 0 < sequence <= len(self.hashes) else None

    def point(self, sequence: int, *, minute: int = 0, key: KeyPair = KEY) -> Checkpoint:
        digest = self.hashes[sequence - 1]
        time = f"2026-03-01T{minute // 60:02}:{minute % 60:02}:00.000000Z"
        return checkpoint.sign(Head(sequence, digest, ""), time=time, key=key)

    def judged(self, *points: Checkpoint | None, left_behind: str = "") -> Judgement:
        return judge(
            points,
            public_key=KEY.public,
            head=len(self.hashes),
            hash_at=self.hash_at,
            left_behind=left_behind,
        )


def chain(count: int, branch: str = "a", common: int = 0) -> Chain:
    """Make a history that shares its first records with every other."""
    return Chain(
        tuple(f"{n:03}{'-' if n <= common else branch}".ljust(64, "0") for n in range(1, count + 1))
    )


sequences = st.lists(st.integers(1, 30), min_size=1, max_size=6)


@given(sequences)
def test_a_chain_agrees_with_every_checkpoint_of_its_own(places: list[int]) -> None:
    own = chain(30)
    judgement = own.judged(*(own.point(place) for place in places))
    assert judgement.state is State.AGREES
    assert judgement.newest == own.point(max(places))
    assert not judgement.describe_problem(30)


@given(sequences, st.integers(0, 29))
def test_a_chain_cut_below_the_furthest_checkpoint_is_behind_and_both_ends_are_named(
    places: list[int], left: int
) -> None:
    whole, cut = chain(30), chain(left)
    judgement = cut.judged(*(whole.point(place) for place in places))
    assert (judgement.state is State.BEHIND) == (max(places) > left)
    if judgement.state is State.BEHIND:
        words = judgement.describe_problem(left)
        assert f"record {left}," in words
        assert f"record {max(places)}:" in words


@given(st.integers(0, 20), sequences, st.integers(21, 40))
def test_a_chain_that_went_on_from_an_older_copy_never_agrees(
    common: int, places: list[int], length: int
) -> None:
    witnessed, forked = chain(30, "a", common), chain(length, "b", common)
    judgement = forked.judged(*(witnessed.point(place) for place in places))
    assert judgement.is_alarming == (max(places) > common)


@given(sequences, st.integers(0, 30))
def test_what_another_key_signed_never_makes_a_chain_look_cut_and_is_counted(
    places: list[int], left: int
) -> None:
    whole, cut = chain(30), chain(left)
    judgement = cut.judged(*(whole.point(place, key=OTHER) for place in places), None)
    assert judgement.state is State.EMPTY
    assert judgement.forged == len(places) + 1


@given(st.integers(0, 20), sequences, st.integers(1, 9))
def test_what_the_operator_signed_away_counts_no_more_and_what_came_later_does(
    common: int, places: list[int], later: int
) -> None:
    old, new = chain(30, "a", common), chain(25, "b", common)
    points = [old.point(place, minute=place) for place in places]
    until = max(point.time for point in points)
    assert not new.judged(*points, left_behind=until).is_alarming
    latest = old.point(common + later, minute=100)
    assert new.judged(*points, latest, left_behind=until).is_alarming


def test_the_latest_checkpoint_that_disagrees_says_until_when() -> None:
    first, second, own = chain(30, "a"), chain(20, "b"), chain(10, "c")
    judgement = own.judged(first.point(30, minute=1), second.point(20, minute=2))
    assert judgement.newest == first.point(30, minute=1)
    assert judgement.until == second.point(20, minute=2).time


@given(sequences, st.integers(1, 30))
def test_exactly_what_a_witness_lacks_is_sent(places: list[int], newest: int) -> None:
    own = chain(30)
    points = [own.point(place, minute=place) for place in sorted(places)]
    missing = list_unpublished(points, own.point(newest, minute=newest))
    assert [point.sequence for point in missing] == [n for n in sorted(places) if n > newest]
    assert list_unpublished(points, None) == points
