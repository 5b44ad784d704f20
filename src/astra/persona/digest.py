"""The digest of the awareness feed that goes to models: short, and true when it is written.

Beliefs come with the numbers they have now, the strongest first; then what happened, the newest
first, and of several notes about one thing only the newest, so that nothing is told as it was
before. It says nothing that is not a record or counted from records. Whoever hands it to a model
delimits it as data: it quotes what agents and apps wrote.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from astra.beliefs.book import Beliefs
from astra.beliefs.model import Belief, Standing
from astra.persona.awareness import BELIEF, IDLE, Awareness, Note
from astra.trusted.kernel.text import one_line

MOST_BELIEFS, MOST_NOTES = 6, 8
LONGEST_LINE, LONGEST_DIGEST = 300, 4_000
_BELIEFS_LOOKED_AT, _NOTES_LOOKED_AT = 50, 40


@dataclass(frozen=True)
class Digest:
    awareness: Awareness
    beliefs: Beliefs

    def write(self) -> str:
        """Write the digest, or nothing where there is nothing to tell."""
        return _join_lines((*self._list_beliefs(), *self._list_notes(_is_any)))

    def write_for_coder(self) -> str:
        """Write what became of changes and releases: whoever writes code needs no other news."""
        return _join_lines((*self._list_beliefs(), *self._list_notes(_is_of_code)))

    def _list_beliefs(self) -> Iterator[str]:
        newest_beliefs, _cursor = self.beliefs.list_beliefs(limit=_BELIEFS_LOOKED_AT)
        settled_beliefs = [belief for belief in newest_beliefs if belief.state in _WORDS]
        strongest = sorted(settled_beliefs, key=_measure_strength, reverse=True)
        for belief in strongest[:MOST_BELIEFS]:
            yield one_line(_describe_belief(belief), LONGEST_LINE)

    def _list_notes(self, is_wanted: Callable[[Note], bool]) -> Iterator[str]:
        """Give what happened; how a belief moved is left out, since its numbers are there."""
        notes, _cursor = self.awareness.read(limit=_NOTES_LOOKED_AT)
        current_notes = _drop_outdated(notes)
        events = [note for note in current_notes if note.kind != BELIEF and is_wanted(note)]
        for note in events[:MOST_NOTES]:
            yield one_line(f"{note.time[:19]}Z {note.kind}: {note.text}", LONGEST_LINE)


_OF_CODE = ("chg_", "dep_")


def _is_any(_note: Note) -> bool:
    return True


def _is_of_code(note: Note) -> bool:
    return (note.about or "").startswith(_OF_CODE)


def _join_lines(every_line: Iterable[str]) -> str:
    """Join the first lines, as many as a digest may have."""
    lines: list[str] = []
    size = 0
    for line in every_line:
        size += len(line) + 1
        if size > LONGEST_DIGEST:
            break
        lines.append(line)
    return "\n".join(lines)


_WORDS = {str(Standing.HELD): "believed", str(Standing.DOUBTED): "not believed"}


def _measure_strength(belief: Belief) -> float:
    confidence = belief.confidence
    return max(confidence.lower, 1.0 - confidence.upper)


def _describe_belief(belief: Belief) -> str:
    confidence = belief.confidence
    return (
        f"{_WORDS[belief.state]}: {belief.statement} (mean {confidence.mean:.2f},"
        f" {confidence.lower:.2f} to {confidence.upper:.2f}, {belief.count} outcomes; {belief.id})"
    )


def _drop_outdated(notes: list[Note]) -> Iterator[Note]:
    """Give the newest note about each thing; of surveys of desires only the newest."""
    subjects: set[str] = set()
    for note in notes:
        subject = note.about or (IDLE if note.kind == IDLE else str(note.sequence))
        if subject not in subjects:
            subjects.add(subject)
            yield note
