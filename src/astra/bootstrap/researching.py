"""Putting research together: the index below `var/search`, kept bodies, the configured model."""

from contextlib import ExitStack

from astra.adapters.agent_views import CurrentViews
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.git_objects import ObjectExchange
from astra.adapters.offered_research import OfferedResearch
from astra.adapters.research_sources import GrantedPages, KeptBodies, PersonaNotes
from astra.adapters.search_index.code_search import TargetSearch
from astra.adapters.search_index.database import SearchDatabase
from astra.adapters.search_index.files import FileIndex
from astra.adapters.search_index.records import RecordIndex
from astra.adapters.search_index.symbols import SymbolTable
from astra.bootstrap.base import Base
from astra.bootstrap.planning import Planning, find_model
from astra.deployments import events as deployments
from astra.desires import views as desires
from astra.goals import events as goals
from astra.research.citations import Citations
from astra.research.gathering import Gathering
from astra.research.reading import Reader
from astra.research.running import Researcher
from astra.research.service import Research
from astra.schedules import events as schedules
from astra.trusted.changes import model as changes
from astra.workers.offering import JobBoard

SEARCHED_TYPES = (
    *(changes.SCHEDULED, changes.REJECTED, changes.EXECUTED, changes.ROLLED_BACK),
    *(changes.TESTS_FAILED, changes.TESTS_COMPLETED, changes.RETURNED, changes.COMMENTED),
    *(goals.CREATED, goals.HELD, goals.SATISFIED, goals.ABANDONED, goals.TASK_FINISHED),
    *(deployments.FAILED, deployments.ROLLED_BACK, deployments.QUARANTINED, deployments.SETTLED),
    *(desires.RECORDED, schedules.GAVE_UP),
)
"""The records that research may quote: what tools show an agent anyway, and no others."""


def make_research(
    base: Base,
    planning: Planning,
    views: CurrentViews,
    *,
    sandbox: Sandbox,
    objects: ObjectExchange,
    opened: ExitStack,
) -> Research:
    database = SearchDatabase(base.root.var / "search")
    opened.callback(database.close)
    files = FileIndex(database)
    code = TargetSearch(views=views, files=files, symbols=SymbolTable(database, files))
    bodies = KeptBodies(base.root.var / "research")

    def granted_domains() -> list[str]:
        grants = planning.allowlist.list_grants()
        return [grant["value"] for grant in grants if grant["kind"] == "network_domains"]

    notes, reader = PersonaNotes(views), Reader(models=find_model(base, "research"))
    offered_research = OfferedResearch(
        board=JobBoard(ledger=base.ledger, machines=base.machines),
        objects=objects,
        notes=notes,
        reader=reader,
    )
    researcher = Researcher(
        ledger=base.ledger,
        gathering=Gathering(
            ledger=base.ledger,
            code=code,
            records=RecordIndex(database, base.ledger, SEARCHED_TYPES),
            notes=notes,
            bodies=bodies,
            pages=GrantedPages(boxes=BoxesOnly(sandbox), grants=granted_domains),
        ),
        citations=Citations(ledger=base.ledger, code=code, bodies=bodies),
        reader=reader,
        closed=base.switches.why_no_goals,
        others=offered_research if base.machines.own_id else None,
    )
    return Research(researcher=researcher)
