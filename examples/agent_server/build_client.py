"""Build the front-end: `client/` becomes `static/`, with names that change with the content.

    python build_client.py

It needs nothing but Python. Run by Astra it happens in a box, in the release's own folder.
"""

import hashlib
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent


def build(source: Path, target: Path) -> list[str]:
    """Write every file under a name with its digest, and a page that uses those names."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    page = (source / "index.html").read_text(encoding="utf-8")
    names = []
    for file in sorted(source.glob("app.*")):
        content = file.read_bytes()
        name = f"{file.stem}-{hashlib.sha256(content).hexdigest()[:10]}{file.suffix}"
        (target / name).write_bytes(content)
        page = page.replace(f'"{file.name}"', f'"{name}"')
        names.append(name)
    (target / "index.html").write_text(page, encoding="utf-8")
    return [*names, "index.html"]


if __name__ == "__main__":
    for written in build(HERE / "client", HERE / "static"):
        print(written)
