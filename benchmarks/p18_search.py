"""P18: searching a million lines, and building the index that answers it.

Prints one JSON object for each of: the build of the index from git objects, the median of queries
over source and documents, and one file more after a commit. The reference is `git grep` over the
same commit in the same run: ten times over the tree for the build, once with the same words for a
query. On a busy machine seconds are those of its other work, too, so build and query are given in
processor time as well; that of the git which hands the objects over is not in it.

The lines are those of the Python library and of installed packages, repeated under other names
until there are enough; every tenth file is called a document.
"""

import resource
import statistics
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measuring

LINES, QUICK_LINES = 1_000_000, 20_000
GREPS = 5
QUESTIONS = (
    ("event", "loop", "policy"),
    ("readline", "socket", "timeout"),
    ("JSONDecoder",),
    ("parse", "certificate", "chain"),
    ("weak", "reference", "callback"),
    ("split_header_words",),
    ("temporary", "directory", "cleanup"),
    ("unicode", "normalize"),
    ("thread", "pool", "executor", "shutdown"),
    ("ConnectionResetError",),
    ("build", "wheel", "metadata"),
    ("compile", "regular", "expression"),
)


def main() -> None:
    from astra.adapters.search_index.database import SearchDatabase
    from astra.adapters.search_index.files import FileIndex
    from astra.adapters.source_view.view import SourceView

    quick = measuring.is_quick()
    with measuring.folder() as folder:
        repository = folder / "repository"
        lines = make_repository(repository, QUICK_LINES if quick else LINES)
        with SourceView(repository / ".git", branch="main") as view:
            database = SearchDatabase(folder / "search")
            index = FileIndex(database)
            commit = view.find_commit()
            report_build(index, view, commit, repository, lines)
            report_queries(index, view, commit, repository)
            report_next_commit(index, view, repository)
            size = database.path.stat().st_size
            measuring.report("P18 size of the index (MB)", size / 1_000_000)
            database.close()


def report_build(index: Any, view: Any, commit: str, repository: Path, lines: int) -> None:
    began, began_processor = time.perf_counter(), time.process_time()
    index.refresh(view, commit)
    build, processor = time.perf_counter() - began, time.process_time() - began_processor
    before = read_processor_time_of_children()
    grep = statistics.median(
        measuring.seconds(lambda: git_grep(repository, ("import",))) for _ in range(GREPS)
    )
    grep_processor = (read_processor_time_of_children() - before) / GREPS
    target = measuring.at_most_times(1.5)
    name = f"P18 index of {lines:,} lines from git objects (s, against ten git greps)"
    measuring.report(name, build, 10 * grep, target)
    measuring.report(f"{name}, processor time", processor, 10 * grep_processor, target)


def read_processor_time_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report_queries(index: Any, view: Any, commit: str, repository: Path) -> None:
    times: list[float] = []
    processor_times: list[float] = []
    for _ in range(5):
        for terms in QUESTIONS:
            for documents in (False, True):
                began, began_processor = time.perf_counter(), time.thread_time()
                index.search(view, terms, commit=commit, documents=documents, limit=6)
                times.append(time.perf_counter() - began)
                processor_times.append(time.thread_time() - began_processor)
    greps = [measuring.seconds(lambda: git_grep(repository, terms)) for terms in QUESTIONS[:6]]  # noqa: B023 - called at once
    median, reference = statistics.median(times), statistics.median(greps)
    measuring.report("P18 query, median (s)", median, reference, measuring.at_most(0.005))
    median = statistics.median(processor_times)
    measuring.report(
        "P18 query, median, processor time (s)", median, None, measuring.at_most(0.005)
    )
    slowest = statistics.quantiles(times, n=20)[-1]
    measuring.report("P18 query, 95th percentile (s)", slowest)


def report_next_commit(index: Any, view: Any, repository: Path) -> None:
    (repository / "one_more.py").write_text("def one_more():\n    return 'a new file'\n")
    commit_all(repository)
    commit = view.find_commit()
    began = time.perf_counter()
    index.refresh(view, commit)
    measuring.report("P18 index after a commit of one file (s)", time.perf_counter() - began)


def make_repository(path: Path, lines: int) -> int:
    """Write about so many lines into a repository and commit them; give their number."""
    path.mkdir()
    run_git(path, "init", "--quiet", "--initial-branch", "main")
    count, number = 0, 0
    while count < lines:
        round_number = number
        for text in list_texts():
            if count >= lines:
                break
            number += 1
            folder = path / f"part{number // 200}"
            folder.mkdir(exist_ok=True)
            mark = f"# copy {round_number}\n" if round_number else ""
            ending = "md" if number % 10 == 0 else "py"
            (folder / f"module_{number}.{ending}").write_text(mark + text)
            count += text.count("\n") + bool(mark)
    commit_all(path)
    return count


def list_texts() -> Iterator[str]:
    folders = [sysconfig.get_path(name) for name in ("stdlib", "purelib")]
    for folder in folders:
        for file in sorted(Path(folder).rglob("*.py")):
            try:
                text = file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if 0 < len(text) < 1_000_000:
                yield text


def commit_all(repository: Path) -> None:
    run_git(repository, "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    run_git(repository, *identity, "commit", "--quiet", "--no-verify", "--message", "sources")


def git_grep(repository: Path, words: tuple[str, ...]) -> None:
    patterns = [part for word in words for part in ("-e", word)]
    run_git(repository, "grep", "--ignore-case", "--count", *patterns, "HEAD", check=False)


def run_git(repository: Path, *words: str, check: bool = True) -> None:
    command = ["git", "-C", str(repository), "-c", "gc.auto=0", *words]
    subprocess.run(command, check=check, capture_output=True)


if __name__ == "__main__":
    main()
