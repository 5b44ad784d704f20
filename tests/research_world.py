"""Research over a real repository, a real index and real notes; the ledger is in memory."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from astra.adapters.agent_views import CurrentViews, Files, Readers, Source, Views
from astra.adapters.persona_space import PersonaSpace
from astra.adapters.research_sources import GrantedPages, KeptBodies, PersonaNotes
from astra.adapters.search_index.code_search import TargetSearch
from astra.adapters.search_index.database import SearchDatabase
from astra.adapters.search_index.files import FileIndex
from astra.adapters.search_index.records import RecordIndex
from astra.adapters.search_index.symbols import SymbolTable
from astra.bootstrap.researching import SEARCHED_TYPES
from astra.plans.ports import NoModel
from astra.research.citations import Citations
from astra.research.gathering import Gathering
from astra.research.model import check_request
from astra.research.reading import Reader
from astra.research.running import Researcher
from astra.research.service import Research
from astra.spend.model import NOBODY, Account
from astra.testing import RootInMemory
from astra.trusted.egress.summary import EgressSummary
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.reads import ReadScope
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox.ports import BoxRequest, Outcome, Verdict

IDENTITY = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
STORY = "cor_00000000000000cc"
FILES: Mapping[str, str] = {
    "store/retry_policy.py": (
        "class RetryPolicy:\n"
        "    def backoff_seconds(self, attempt: int) -> float:\n"
        "        return min(2.0**attempt, 60.0)  # never longer than a minute\n"
    ),
    "store/upload.py": (
        "from store.retry_policy import RetryPolicy\n\n\n"
        "def upload_file(path, policy: RetryPolicy):\n"
        "    for attempt in range(5):\n"
        "        wait(policy.backoff_seconds(attempt))\n"
    ),
    "docs/retries.md": "# Retries\n\nUploads are retried five times, with exponential backoff.\n",
}


@dataclass
class Models:
    """The configured model: one that a test scripts, or none."""

    model: Any = None

    def current(self, _account: Account = NOBODY) -> Any:
        if self.model is None:
            raise NoModel("no model is configured", next_step="name one")
        return self.model

    def configured(self) -> bool:
        return self.model is not None


@dataclass
class PageBoxes:
    """Boxes that fetch: they answer with the page of a test and note every address."""

    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[BoxRequest] = field(default_factory=list)

    def run(self, request: BoxRequest) -> Outcome:
        self.asked.append(request)
        url = request.command[5]
        if url not in self.pages:
            return Outcome(verdict=Verdict.FAILED, reason="no such page", exit_code=1)
        head = json.dumps({"status": 200, "type": "text/html"}).encode()
        body = head + b"\n" + self.pages[url]
        return Outcome(verdict=Verdict.SUCCEEDED, reason="", stdout=body, egress=_one_connection())

    def end(self, label: str, why: str) -> int:
        del label, why
        return 0


def _one_connection() -> EgressSummary:
    return EgressSummary(allowed=1, denied=0, unrecorded=0, sent=1, received=1, hosts=("x:443",))


class ResearchWorld:
    def __init__(self, folder: Path, files: Mapping[str, str | bytes] = FILES) -> None:
        self.folder = folder
        self.repository = folder / "target"
        self.memory = RootInMemory()
        self.models, self.boxes = Models(), PageBoxes()
        self.grants: list[str] = []
        self.secrets = SecretRules()
        self.closed = ""
        _run_git(folder, "init", "-q", "-b", "trunk", str(self.repository))
        self.commit(files)
        self.persona = folder / "persona_space"
        self.persona.mkdir()
        self.readers = Readers.open(self.repository / ".git", self.persona)
        self.database = SearchDatabase(folder / "search")
        self.views = CurrentViews(self._make_views)
        self.research = self.open()

    @property
    def ledger(self) -> Ledger:
        return self.memory.ledger

    @property
    def researcher(self) -> Researcher:
        return self.research.researcher

    def commit(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        _run_git(self.repository, "add", "-f", ".")
        _run_git(self.repository, *IDENTITY, "commit", "-qm", "files")

    def open(self, ledger: Ledger | None = None) -> Research:
        """Put research together, as another daemon on the same ledger does."""
        ledger = ledger or self.ledger
        index = FileIndex(self.database)
        code = TargetSearch(
            views=self.views, files=index, symbols=SymbolTable(self.database, index)
        )
        bodies = KeptBodies(self.folder / "bodies")
        researcher = Researcher(
            ledger=ledger,
            gathering=Gathering(
                ledger=ledger,
                code=code,
                records=RecordIndex(self.database, ledger, SEARCHED_TYPES),
                notes=PersonaNotes(self.views),
                bodies=bodies,
                pages=GrantedPages(boxes=self.boxes, grants=lambda: self.grants),
            ),
            citations=Citations(ledger=ledger, code=code, bodies=bodies),
            reader=Reader(models=self.models),
            closed=lambda: self.closed,
        )
        return Research(researcher=researcher)

    def ask(self, question: str = "How long is the retry backoff?", **limits: Any) -> Any:
        request = check_request(question, **limits)
        return self.research.ask(request, actor="agent:test", correlation=STORY)

    def note(self, name: str, text: str) -> None:
        (self.persona / name).write_text(text)

    def types(self) -> list[str]:
        return [record.type for record in self.ledger.records(limit=10_000)]

    def close(self) -> None:
        self.database.close()
        self.readers.close()
        self.ledger.close()

    def _make_views(self) -> Views:
        source = Source(
            self.repository / ".git",
            branch="trunk",
            secrets=self.secrets,
            objects=self.readers.objects,
        )
        own = PersonaSpace(self.readers.persona, source=source, secrets=self.secrets)
        files = Files(own, cast("Any", None))
        return Views(source=source, files=files, read_scope=ReadScope.SOURCE)


def cite(passage: int, claim: str, quote: str) -> dict[str, Any]:
    return {"passage": passage, "claim": claim, "quote": quote}


def _run_git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)
