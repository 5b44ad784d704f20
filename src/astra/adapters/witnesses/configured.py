"""The witness that the signed configuration names."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from astra.adapters.witnesses.folder import FolderWitness
from astra.adapters.witnesses.git_remote import GitWitness
from astra.adapters.witnesses.posted import PostedWitness
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.ledger.witnessing import Witness
from astra.trusted.settings.witness_address import FOLDER, GIT, KEY, read_address


def make_witness(
    text: str, *, root: DataRoot, root_id: str, cache: Path | None = None, seconds: float = 10.0
) -> Witness:
    """Make the witness at an address; `cache` is where a git remote is fetched to."""
    address = read_address(text)
    if address.kind == FOLDER:
        _refuse_inside(Path(address.location), root)
        return FolderWitness(address=text, root_id=root_id)
    if address.scheme == "file":
        _refuse_inside(Path(unquote(urlsplit(address.location).path)), root)
    if address.kind == GIT:
        return GitWitness(
            address=text,
            location=address.location,
            scheme=address.scheme,
            root_id=root_id,
            cache=cache or root.var / "witness",
            ssh_key=root.var / "keys" / "push.key",
            seconds=seconds,
        )
    return PostedWitness(address=text, root_id=root_id, seconds=seconds)


def _refuse_inside(folder: Path, root: DataRoot) -> None:
    if folder.resolve().is_relative_to(root.path.resolve()):
        raise BadSetting(
            "a witness inside the data root goes wherever the data root goes",
            next_step="name a folder elsewhere, best on another machine",
            key=KEY,
        )
