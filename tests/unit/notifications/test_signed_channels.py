"""Which channels there are: those that the operator signed, with an address that can be read."""

from pathlib import Path

from astra.adapters.signed_channels import SignedChannels
from astra.testing import RootInMemory
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy import contract

CONFIGURATION = '[notify]\nchannels = ["MINE", "OTHERS"]\n'


def channels_with(tmp_path: Path, dotenv: bytes) -> dict[str, str]:
    root = RootInMemory()
    signed = root.sign(contract.CONFIG_SIGNED, contract.content(CONFIGURATION))
    event = contract.sign(root.ledger, CONFIGURATION, signed, now=root.clock.now())
    root.ledger.append([event])
    (tmp_path / ".env").write_bytes(dotenv)
    current = SignedChannels(ledger=root.ledger, root=DataRoot(tmp_path)).current()
    return dict(current.addresses)


def test_a_line_that_is_not_utf8_silences_its_own_channel_only(tmp_path: Path) -> None:
    found = channels_with(tmp_path, b"MINE=json://here\nOTHERS=json://\xff\xfe\n")
    assert found == {"MINE": "json://here"}


def test_a_line_that_is_no_setting_silences_nobody(tmp_path: Path) -> None:
    found = channels_with(tmp_path, b"what is this\nMINE=json://here\nexport OTHERS='json://x'\n")
    assert found == {"MINE": "json://here", "OTHERS": "json://x"}


def test_without_the_file_there_is_no_channel(tmp_path: Path) -> None:
    channels_with(tmp_path, b"")
    (tmp_path / ".env").unlink()
    (tmp_path / ".env").mkdir()
    root = RootInMemory()
    assert SignedChannels(ledger=root.ledger, root=DataRoot(tmp_path)).current().names == ()
