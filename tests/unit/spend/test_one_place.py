"""Every call of a model passes the one place that counts it."""

from pathlib import Path

import astra

SOURCE = Path(astra.__file__).parent


def list_users(text: str) -> set[str]:
    return {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if text in path.read_text(encoding="utf-8")
    }


def test_one_module_calls_the_library_that_speaks_to_models() -> None:
    assert list_users("pydantic_ai.direct") == {"adapters/model_calls.py"}


def test_models_are_configured_in_one_place_with_the_meter() -> None:
    assert list_users("ConfiguredModel(") == {"bootstrap/planning.py"}


def test_clients_of_model_servers_are_opened_for_counted_calls_only() -> None:
    assert list_users("open_client(") == {
        "adapters/model_endpoints.py",
        "adapters/model_streams.py",
    }
    clients = list_users("AsyncOpenAI") | list_users("AsyncAnthropic")
    assert clients == {"adapters/model_endpoints.py"}
