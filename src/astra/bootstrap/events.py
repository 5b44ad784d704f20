"""Every event that Astra records: its name, and what happened when it is in the ledger.

An event that some module appends and this list does not name fails a test, and so does a name here
that nothing appends.

>>> EVENTS["flag_set"]
'a flag was turned off by anyone, or on by the operator, who signed it'
"""

from collections.abc import Mapping
from types import MappingProxyType

from astra.policy import authority, contract, flags

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        authority.ROOT_CREATED: "a data root was made; names its keys, its target and its folders",
        authority.KEY_ROTATED: "a new operator key was introduced, signed by the old or the"
        " recovery key",
        contract.CONFIG_SIGNED: "the operator signed `astra.toml`; the text in the record counts",
        flags.FLAG_SET: "a flag was turned off by anyone, or on by the operator, who signed it",
        "ledger_tail_set_aside": "a crash tore the end of a segment; it was moved out of the chain,"
        " whole, to `var/set-aside`",
    }
)
