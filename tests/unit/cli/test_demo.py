"""The demo ends with something to decide: what it prints works in another terminal."""

import re

from astra.interfaces.cli import main as cli
from astra.interfaces.cli.demo import describe_second_terminal

WORLD = {
    "PATH": "/usr/bin",
    "AGENT_DATA_ROOT": "/tmp/astra demo/data",
    "XDG_CONFIG_HOME": "/tmp/astra demo/operator",
    "ASTRA_OPERATOR_PASSPHRASE": "a throwaway passphrase",
}


def test_what_to_paste_is_quoted_and_names_commands_that_exist() -> None:
    lines = describe_second_terminal(WORLD, "chg_1")
    assert "    export AGENT_DATA_ROOT='/tmp/astra demo/data'" in lines
    assert "    export ASTRA_OPERATOR_PASSPHRASE='a throwaway passphrase'" in lines
    commands = [line.partition("#")[0].split()[1:] for line in lines if re.match(r" +astra ", line)]
    assert [words[0] for words in commands] == ["review", "passkeys"]
    for words in commands:
        assert callable(cli.parse(words).run)
