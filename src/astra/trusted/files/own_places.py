"""What no grant may touch: Astra's own files, its installation, keys, start-up files."""

from pathlib import Path

import astra
from astra.trusted.files import operator_key
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.grants import GrantPlaces
from astra.trusted.policy.protected import protected_places
from astra.trusted.policy.secrets import SecretRules


def grant_places(root: DataRoot, secrets: SecretRules | None = None) -> GrantPlaces:
    """Collect what no grant may touch: Astra's own files, its install, keys, start-up files."""
    home = str(Path.home())
    places = protected_places(
        data_root=str(root.path),
        home=home,
        others=[str(Path(astra.__file__).parent), str(operator_key.folder())],
    )
    return GrantPlaces(home=home, protected=places, secrets=secrets or SecretRules())
