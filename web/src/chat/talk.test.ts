import { expect, test } from "vitest";
import { heard } from "../api/chat";
import { after, type Spoken } from "./talk";

const NOTHING: Spoken = {
  conversation: null,
  asked: null,
  question: "hello",
  text: "",
  calls: [],
  suggestion: null,
};
const CALL = { number: 1, tool: "write_file", arguments: {} };

test("an answer grows with what is heard", () => {
  const events: [string, Record<string, unknown>][] = [
    ["started", { conversation: "chat_1", sequence: 7 }],
    ["text", { text: "one " }],
    ["call", CALL],
    ["text", { text: "two" }],
    ["suggestion", { description: "all of it" }],
    ["end", {}],
  ];
  const now = events.reduce((spoken, [kind, data]) => after(spoken, kind, data), NOTHING);
  expect(now).toEqual({
    conversation: "chat_1",
    asked: 7,
    question: "hello",
    text: "one two",
    calls: [{ ...CALL, outcome: "running" }],
    suggestion: "all of it",
  });
});

test("a result takes the place of its call and of no other", () => {
  const calls = after(after(NOTHING, "call", CALL), "call", { ...CALL, number: 2 });
  const now = after(calls, "result", { ...CALL, outcome: "ok", code: "ok" });
  expect(now.calls.map((call) => call.outcome)).toEqual(["ok", "running"]);
});

test("a sign of life and broken data are nothing", () => {
  expect(heard(": still here")).toBeNull();
  expect(heard("event: text\ndata: {")).toBeNull();
  expect(heard('event: text\ndata: {"text": "a"}')).toEqual({ kind: "text", data: { text: "a" } });
});
