"""An agent that speaks MCP to `astra mcp` over standard input and output, line by line.

It has no judgement of its own: it makes each call that it is told to make, and says what came back.
"""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PROTOCOL = "2025-11-25"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back from one call."""

    refused: bool
    content: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.content, ensure_ascii=False)

    @property
    def code(self) -> str:
        return str(self.content.get("code", "failed")) if self.refused else ""

    @property
    def approval(self) -> str:
        """Name the approval that would let the same call through."""
        return str(self.content.get("approval_id") or "") if self.refused else ""


@dataclass
class Agent:
    process: subprocess.Popen[bytes]
    answers: list[Answer] = field(default_factory=list[Answer])
    last_id: int = 0

    def introduce(self) -> None:
        info = {"name": "arena", "version": "1"}
        self._ask("initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=info)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result = self._ask("tools/call", name=tool, arguments=arguments)
        answer = Answer(
            refused=bool(result.get("isError")), content=result.get("structuredContent") or result
        )
        self.answers.append(answer)
        return answer

    def start_call(self, tool: str, arguments: dict[str, Any]) -> None:
        """Make a call and wait for no answer."""
        self._post("tools/call", name=tool, arguments=arguments)

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        request_id = self._post(method, **params)
        while (message := self._read()).get("id") != request_id or "method" in message:
            pass
        if "error" in message:
            return {"isError": True, "structuredContent": {"code": "protocol", **message["error"]}}
        return message["result"]

    def _post(self, method: str, **params: Any) -> int:
        self.last_id += 1
        self._send({"id": self.last_id, "method": method, "params": params})
        return self.last_id

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ConnectionError("the relay ended")
        return json.loads(line)


@contextlib.contextmanager
def connect_agent(command: list[str], environment: dict[str, str], folder: Path) -> Iterator[Agent]:
    """Start the relay, introduce the agent, and end the relay afterwards."""
    with subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        agent = Agent(process)
        try:
            agent.introduce()
            yield agent
        finally:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()
