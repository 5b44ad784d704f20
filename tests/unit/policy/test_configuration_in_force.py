"""The signed configuration is parsed once, and again exactly when another one was recorded."""

from astra.testing import RootInMemory
from astra.trusted.ledger.record import Event
from astra.trusted.policy import contract


def sign(root: RootInMemory, text: str) -> None:
    signed = root.sign(contract.CONFIG_SIGNED, contract.content(text))
    root.ledger.append([contract.sign(root.ledger, text, signed, now=root.clock.now())])


def test_a_configuration_counts_from_its_signature_on(root: RootInMemory) -> None:
    assert contract.read_configuration(root.ledger).budgets.tool_per_day == 500
    sign(root, "[budgets]\ntool_per_day = 3")
    assert contract.read_configuration(root.ledger).budgets.tool_per_day == 3
    sign(root, "[budgets]\ntool_per_day = 7")
    assert contract.read_configuration(root.ledger).budgets.tool_per_day == 7


def test_a_configuration_that_nobody_signed_changes_nothing(root: RootInMemory) -> None:
    sign(root, "[budgets]\ntool_per_day = 3")
    forged = contract.content("[budgets]\ntool_per_day = 499")
    root.ledger.append(
        [Event(type=contract.CONFIG_SIGNED, actor="operator", data=forged, subject="configuration")]
    )
    assert contract.read_configuration(root.ledger).budgets.tool_per_day == 3


def test_other_records_do_not_have_it_parsed_again(root: RootInMemory) -> None:
    sign(root, "[budgets]\ntool_per_day = 3")
    in_force = contract.read_configuration(root.ledger)
    root.ledger.append([Event(type="note_taken", actor="agent", data={})])
    assert contract.read_configuration(root.ledger) is in_force


def test_each_ledger_has_its_own(root: RootInMemory) -> None:
    other = RootInMemory()
    sign(root, "[budgets]\ntool_per_day = 3")
    assert contract.read_configuration(root.ledger).budgets.tool_per_day == 3
    assert contract.read_configuration(other.ledger).budgets.tool_per_day == 500
