"""`astra ledger verify`: the chain of a data root against what its witness keeps.

It needs no daemon and trusts none. Which witness that is, stands in the signed configuration in the
chain; a chain cut back behind that signature does not name it any more, so whoever verifies may.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from astra.adapters.witnesses.configured import make_witness
from astra.trusted.file_ledger.check import Outside, check_files
from astra.trusted.file_ledger.offline import open_offline
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.ledger.verification import Problem, Report
from astra.trusted.policy import authority, contract, restoring


@dataclass(frozen=True, kw_only=True)
class Checked:
    report: Report
    address: str = ""
    compared: bool = False
    """Whether a witness gave something back to compare with."""


def check_data_root(
    root: DataRoot, stored_chain: StoredChain, *, public_key: str | None, address: str = ""
) -> Checked:
    """Verify the chain of a data root, and compare it with its witness."""
    try:
        with open_offline(stored_chain) as ledger:
            address = address or contract.read_configuration(ledger).ledger.witness
            root_id = authority.find_keys(ledger).root_id
            until = restoring.left_behind(ledger)
    except (AstraError, OSError):  # a damaged chain: what is wrong with it is found below
        report = check_files(root.var, stored_chain=stored_chain, public_key=public_key)
        return Checked(report=report, address=address)
    if not address:
        return Checked(
            report=check_files(root.var, stored_chain=stored_chain, public_key=public_key)
        )
    with tempfile.TemporaryDirectory(prefix="astra-witness-") as cache:
        try:
            witness = make_witness(address, root=root, root_id=root_id, cache=Path(cache) / "git")
            points = witness.read()
        except AstraError as error:
            report = check_files(root.var, stored_chain=stored_chain, public_key=public_key)
            return Checked(report=_with_silence(report, error), address=address)
    outside = Outside(points=points or (), left_behind=until)
    report = check_files(
        root.var, stored_chain=stored_chain, public_key=public_key, outside=outside
    )
    return Checked(report=report, address=address, compared=points is not None)


def _with_silence(report: Report, error: AstraError) -> Report:
    """Say that a witness did not answer: nobody knows what it would have said."""
    problem = Problem("witness", report.records, error.detail)
    return replace(report, problems=[*report.problems, problem])
