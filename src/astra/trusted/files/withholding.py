"""The one rule for secrets, as the signed configuration has it now, for whoever shows files.

Read anew at every use, so that a signed `secret_patterns` bites at the next box.
"""

from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import authority, contract
from astra.trusted.policy.secrets import SecretRules


def secret_rules(ledger: Ledger) -> SecretRules:
    return SecretRules(patterns=contract.read_configuration(ledger).agent.secret_patterns)


def agent_folders(root: DataRoot, ledger: Ledger) -> tuple[str, ...]:
    """List the folders whose content is the agent's own or was made for it without secrets.

    The first is its clone.
    """
    (created,) = views.records(ledger, type_=authority.ROOT_CREATED, limit=1) or (None,)
    data = created.data if created else {}
    names = (data.get("code_repo", "code-repo"), data.get("sandbox", "sandbox"))
    return tuple(str(root.path / name) for name in (*names, "persona_space", "deployments"))
