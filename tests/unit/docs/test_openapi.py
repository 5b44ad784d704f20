"""The description that the web client is made from is what the code says now."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[3]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("openapi", ROOT / "scripts" / "openapi.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OPENAPI = script()


def test_the_kept_description_is_what_the_code_says_now() -> None:
    kept = (ROOT / "web" / "openapi.json").read_text()
    assert kept == OPENAPI.text(), "run `make docs` and commit what it writes"


def test_every_answer_says_how_it_refuses() -> None:
    document = OPENAPI.document()
    assert document["components"]["schemas"]["Problem"]["required"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            said = operation["responses"]["default"]["content"]
            assert list(said) == ["application/problem+json"], (method, path)


def test_every_body_says_what_is_in_it() -> None:
    document = OPENAPI.document()
    bare = [
        (method, path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if is_bare_object(content["schema"])
    ]
    assert not bare, "describe it with a model, or with ReadAs"


def is_bare_object(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and not schema.get("properties")
