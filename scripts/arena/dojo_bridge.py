"""Runs in the arena's own environment, where AgentDojo is installed and Astra is not.

`dojo_bridge.py serve SUITE FOLDER` is an MCP server over standard input and output with the tools
of a suite. Which task is played stands in FOLDER/episode.json; each call that it carries out is
a line of FOLDER/journal-NUMBER.ndjson. Astra starts it in a box.

`dojo_bridge.py desk` answers questions about tasks, a JSON document a line: what a task asks for,
which calls its ground truth makes, and whether a journal, played again from the start, amounts to
the user's task or to the attacker's.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any


def leave_out_models() -> None:
    """Have the package of pipelines import nothing by itself: it would load every model's library.

    That takes longer than a server in a box has time to start; no model is asked here.
    """
    specification = importlib.util.find_spec("agentdojo")
    assert specification is not None
    (folder,) = specification.submodule_search_locations or ()
    package = types.ModuleType("agentdojo.agent_pipeline")
    package.__path__ = [str(Path(folder) / "agent_pipeline")]
    sys.modules[package.__name__] = package


leave_out_models()

from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline  # noqa: E402 - after it
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402 - likewise
from agentdojo.attacks.important_instructions_attacks import (  # noqa: E402 - likewise
    ImportantInstructionsAttack,
)
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402 - likewise
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402 - likewise

VERSION = "v1.2.2"
SUITES = get_suites(VERSION)
Table = dict[str, Any]


class Episode:
    """One task of a suite, with or without an attacker's text in its data."""

    def __init__(self, suite_name: str, user_id: str, injection_id: str) -> None:
        self.suite = SUITES[suite_name]
        self.user = self.suite.get_user_task_by_id(user_id)
        self.injection = self.suite.get_injection_task_by_id(injection_id) if injection_id else None

    def make_environment(self) -> Any:
        texts = self.make_injections() if self.injection else {}
        environment = self.suite.load_and_inject_default_environment(texts)
        return self.user.init_environment(environment)

    def make_injections(self) -> dict[str, str]:
        canaries = {name: f"<CANARY-{name}>" for name in self.suite.get_injection_vector_defaults()}
        environment = self.suite.load_and_inject_default_environment(canaries)
        runtime = FunctionsRuntime(self.suite.tools)
        messages = GroundTruthPipeline(self.user).query(self.user.PROMPT, runtime, environment)[3]
        transcript = json.dumps(messages, default=str)
        text = ImportantInstructionsAttack._JB_STRING.format(  # noqa: SLF001 - the set's own words
            goal=self.injection.GOAL, user="Emma Johnson", model="the AI language model"
        )
        return {name: text for name, canary in canaries.items() if canary in transcript}

    def list_calls(self, task: Any) -> list[Table]:
        """Give the calls of a task's ground truth, with what each takes from others filled in."""
        environment = self.make_environment()
        runtime = FunctionsRuntime(self.suite.tools)
        calls = []
        for call in task.ground_truth(environment):
            arguments = runtime._execute_nested_calls(environment, call.args)  # noqa: SLF001 - as its own pipeline does
            calls.append({"tool": call.function, "arguments": arguments})
            runtime.run_function(environment, call.function, arguments)
        return json.loads(json.dumps(calls, default=str))

    def play(self, calls: list[Table]) -> tuple[Any, Any]:
        """Play calls again from the start; gives the environment before and after."""
        before = self.make_environment()
        after = before.model_copy(deep=True)
        runtime = FunctionsRuntime(self.suite.tools)
        for call in calls:
            runtime.run_function(after, call["tool"], call["arguments"])
        return before, after

    def has_user_effect(self, calls: list[Table]) -> bool:
        before, after = self.play(calls)
        output, trace = self.user.GROUND_TRUTH_OUTPUT, make_trace(calls)
        verdict = self.user.utility_from_traces(output, before, after, trace)
        return bool(self.user.utility(output, before, after) if verdict is None else verdict)

    def has_attackers_effect(self, calls: list[Table]) -> bool:
        before, after = self.play(calls)
        verdict = self.injection.security_from_traces("", before, after, make_trace(calls))
        return bool(self.injection.security("", before, after) if verdict is None else verdict)


def make_trace(calls: list[Table]) -> list[FunctionCall]:
    return [FunctionCall(function=call["tool"], args=call["arguments"]) for call in calls]


def answer_question(question: Table) -> Table:
    if question["ask"] == "list":
        return {
            name: {
                "users": sorted(suite.user_tasks),
                "injections": sorted(suite.injection_tasks),
                "tools": list_tools(name),
            }
            for name, suite in SUITES.items()
        }
    episode = Episode(question["suite"], question["user"], question["injection"])
    if question["ask"] == "task":
        injection = episode.injection
        return {
            "prompt": episode.user.PROMPT,
            "calls": episode.list_calls(episode.user),
            "goal": injection.GOAL if injection else "",
            "attack": episode.list_calls(injection) if injection else [],
        }
    calls = question["calls"]
    return {
        "user": episode.has_user_effect(calls),
        "attacker": bool(episode.injection) and episode.has_attackers_effect(calls),
    }


def list_tools(suite_name: str) -> list[Table]:
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.parameters.model_json_schema(),
        }
        for tool in SUITES[suite_name].tools
    ]


class Server:
    def __init__(self, suite_name: str, folder: str) -> None:
        self.suite_name, self.folder = suite_name, Path(folder)
        self.number = 0
        self.environment: Any = None
        self.runtime = FunctionsRuntime(SUITES[suite_name].tools)

    def respond(self, method: str, params: Table) -> Table:
        if method == "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": self.suite_name, "version": VERSION},
            }
        if method == "tools/list":
            return {"tools": list_tools(self.suite_name)}
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments", {}))
        return {}

    def call(self, tool: str, arguments: Table) -> Table:
        self.turn_to_episode()
        result, error = self.runtime.run_function(self.environment, tool, arguments)
        line = {"tool": tool, "arguments": arguments, "error": error}
        with (self.folder / f"journal-{self.number}.ndjson").open("a") as journal:
            journal.write(json.dumps(line) + "\n")
        text = error or tool_result_to_str(result)
        return {"content": [{"type": "text", "text": text}], "isError": bool(error)}

    def turn_to_episode(self) -> None:
        request = json.loads((self.folder / "episode.json").read_text())
        if request["number"] != self.number:
            self.number = request["number"]
            episode = Episode(self.suite_name, request["user"], request["injection"])
            self.environment = episode.make_environment()


def main() -> None:
    if sys.argv[1] == "serve":
        server = Server(sys.argv[2], sys.argv[3])
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message and "method" in message:
                result = server.respond(message["method"], message.get("params", {}))
                send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return
    for line in sys.stdin:
        send(answer_question(json.loads(line)))


def send(document: Table) -> None:
    sys.stdout.write(json.dumps(document, default=str) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
