"""What no grant may touch: Astra's own files, its installation, keys, start-up files."""

from pathlib import Path

import astra
from astra.trusted.files import operators_key
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.grants import GrantPlaces
from astra.trusted.policy.protected import START_UP_FILES, protected_places
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import machine


def grant_places(root: DataRoot, secrets: SecretRules | None = None) -> GrantPlaces:
    """Collect what no grant may touch: Astra's own files, its install, keys, start-up files."""
    home, *other_homes = machine.own_homes() or ("/nonexistent",)
    start_up = (f"{place}/{name}" for place in other_homes for name in START_UP_FILES)
    keys = operators_key.key_folders(root)
    places = protected_places(
        data_root=str(root.path),
        home=home,
        others=[str(Path(astra.__file__).parent), *keys, *start_up],
    )
    return GrantPlaces(home=home, protected=places, secrets=secrets or SecretRules())
