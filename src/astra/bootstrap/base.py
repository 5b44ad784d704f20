"""What every part of a running Astra stands on: one data root, its record, and who may decide."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from astra import __version__
from astra.adapters.chains import find_chain, find_machines, open_ledger
from astra.adapters.installed_version import InstalledVersion
from astra.adapters.witnesses.keeping import WitnessKeeping
from astra.bootstrap import PROJECTIONS
from astra.bootstrap.accounts import complete_account
from astra.bootstrap.directions import is_harmless, is_urgent
from astra.flow.lane import WORK_LEASE
from astra.goals.money import find_money_limit
from astra.spend.book import SpendBook
from astra.spend.raising import SignedRaises
from astra.tools.catalogue import make_registry
from astra.tools.servers import ImportedRegistry
from astra.trusted.approvals.desk import Desk
from astra.trusted.approvals.restores import Restores
from astra.trusted.calls.registry import Registry
from astra.trusted.file_ledger import sqlite_index
from astra.trusted.file_ledger.indexed import IndexedLedger
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.ledger import formats
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.ledger.timekeeping import LedgerClock
from astra.trusted.policy import contract, telemetry
from astra.trusted.policy.switches import Switches
from astra.trusted.servers.acceptance import ServerBook
from astra.trusted.servers.signed_entries import SignedServers
from astra.trusted.settings.configuration import Configuration
from astra.trusted.settings.environment import Settings
from astra.trusted.stop.machines import Machines
from astra.trusted.stop.stops import Stops


@dataclass(frozen=True, kw_only=True)
class Base:
    root: DataRoot
    settings: Settings
    branch: str
    clock: LedgerClock
    """The one notion of time; what the machine says is in `clock.machine`."""
    reserve: Reserve
    ledger: IndexedLedger
    chain: StoredChain
    """The same chain as it is stored, to read without the index."""
    installed: InstalledVersion
    machines: Machines
    """The machines that share this chain."""
    wanted_leases: dict[str, Callable[[], bool]]
    """When this machine wants to lead a kind of work."""
    stops: Stops
    switches: Switches
    desk: Desk
    restores: Restores
    witness: WitnessKeeping
    registry: Registry
    raises: SignedRaises
    spend: SpendBook
    """Counts what every model call takes."""

    def configuration(self) -> Configuration:
        """Give the configuration in force; asked anew at every use, as it may be signed anew."""
        return contract.read_configuration(self.ledger)

    def why_held(self) -> str:
        """Say why nothing may begin here until the operator signs, or nothing."""
        return "; ".join(hold.detail for hold in self.ledger.holds)

    def record(self, event: Event) -> None:
        self.ledger.append([event])

    @property
    def persona_space(self) -> Path:
        return self.root.path / "persona_space"

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """The folders that are the agent's own."""
        return self.persona_space, self.settings.code_repo, self.settings.sandbox_folder


def open_base(settings: Settings, clock: Clock, opened: ExitStack) -> Base:
    """Take ownership of a data root, open its ledger, and close what a crash left open in it."""
    root = DataRoot(settings.data_root)
    created = root.require_first_record()
    _refuse_moved_folders(settings, root, created)
    reserve = Reserve(root.var)
    reserve.make_room()
    ledger = open_ledger(
        root,
        settings,
        projections=PROJECTIONS,
        clock=clock,
        reserve=reserve,
        urgent=is_urgent,
        harmless=is_harmless,
    )
    opened.callback(ledger.close)
    reserve.fill()
    formats.raise_format(ledger, version=__version__)
    wanted_leases: dict[str, Callable[[], bool]] = {WORK_LEASE: lambda: True}
    machines = find_machines(root, settings, wanted_leases)
    opened.callback(machines.close)
    telemetry.close_interrupted(ledger, machines.own_id)
    ledger_clock = LedgerClock(ledger, clock)
    stops = Stops(
        root.path, ledger, ledger_clock, held=lambda: bool(ledger.holds), machines=machines
    )
    stops.settle()
    desk = Desk(ledger, ledger_clock)
    restores = Restores(ledger=ledger, desk=desk, clock=ledger_clock, var=root.var)
    restores.settle()
    raises = SignedRaises(desk=desk)
    witness = WitnessKeeping(
        ledger=ledger,
        root=root,
        address=lambda: contract.read_configuration(ledger).ledger.witness,
    )
    witness.open()
    opened.callback(witness.hand_over_head)
    return Base(
        root=root,
        settings=settings,
        branch=created.data["branch"],
        clock=ledger_clock,
        reserve=reserve,
        ledger=ledger,
        chain=find_chain(root, settings),
        installed=InstalledVersion(
            root.path,
            sqlite_index.list_sources(PROJECTIONS),
            count_records=lambda: ledger.head().sequence,
        ),
        machines=machines,
        wanted_leases=wanted_leases,
        stops=stops,
        switches=Switches(ledger=ledger, settings=settings, stopped=stops.is_stopped),
        desk=desk,
        restores=restores,
        witness=witness,
        registry=make_registry(_make_imported(ledger)),
        raises=raises,
        spend=SpendBook(
            ledger=ledger,
            clock=ledger_clock,
            raises=raises,
            complete=partial(complete_account, ledger),
            find_goal_limit=partial(find_money_limit, ledger),
        ),
    )


def _make_imported(ledger: IndexedLedger) -> ImportedRegistry:
    return ImportedRegistry(ServerBook(ledger), SignedServers(ledger))


def _refuse_moved_folders(settings: Settings, root: DataRoot, created: Record) -> None:
    """Hold the environment to the folders chosen at init: it may not point the agent elsewhere."""
    for name, folder, recorded_folder in (
        ("AGENT_CODE_REPO_PATH", settings.code_repo, created.data["code_repo"]),
        ("AGENT_SANDBOX_PATH", settings.sandbox_folder, created.data["sandbox"]),
    ):
        if folder != root.path / recorded_folder:
            raise BadSetting(
                f"{name} is {folder}; this data root was made with {root.path / recorded_folder}",
                next_step=f"unset {name}",
                key=name,
            )
