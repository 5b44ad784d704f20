import { expect, test } from "vitest";
import { GRACE_MS, type Letter, Outbox } from "./outbox";
import { Problem } from "./problem";

function world({ answers = [] as (Problem | null)[], kept = "[]" } = {}) {
  const state = { now: 0, timers: [] as { at: number; run: () => void }[], kept };
  const sent: string[] = [];
  const told: (string | undefined)[] = [];
  const outbox = new Outbox({
    send: async ({ identifier }) => {
      const problem = answers.shift();
      if (problem) throw problem;
      sent.push(identifier);
    },
    now: () => state.now,
    later: (run, milliseconds) => state.timers.push({ at: state.now + milliseconds, run }),
    storage: {
      getItem: () => state.kept,
      setItem: (_, text) => {
        state.kept = text;
      },
    },
    sent: (_, problem) => told.push(problem?.code),
  });
  const pass = async (milliseconds: number) => {
    state.now += milliseconds;
    const due = state.timers.filter(({ at }) => at <= state.now);
    state.timers = state.timers.filter(({ at }) => at > state.now);
    for (const { run } of due) run();
    await new Promise((done) => setTimeout(done));
  };
  return { outbox, sent, told, pass, state };
}

const letter = (identifier: string): Letter => ({
  key: `reject ${identifier}`,
  words: `Reject ${identifier}`,
  kind: "reject approval",
  identifier,
  body: { reason: "no" },
});
const refusal = (code: string) => new Problem(409, { code, detail: code });

test("a decision is sent after its moment of grace, once", async () => {
  const { outbox, sent, pass } = world();
  outbox.post(letter("apr_1"));
  outbox.post(letter("apr_1"));
  await pass(GRACE_MS - 1);
  expect(sent).toEqual([]);
  await pass(1);
  expect(sent).toEqual(["apr_1"]);
  expect(outbox.items).toEqual([]);
});

test("what is taken back is never sent", async () => {
  const { outbox, sent, pass, state } = world();
  outbox.post(letter("apr_1"));
  outbox.takeBack("reject apr_1");
  await pass(GRACE_MS * 2);
  expect(sent).toEqual([]);
  expect(state.kept).toBe("[]");
});

test("without a connection it waits visibly, and can still be taken back", async () => {
  const { outbox, sent, pass } = world({ answers: [Problem.unreachable(), null] });
  outbox.post(letter("apr_1"));
  await pass(GRACE_MS);
  expect(outbox.items.map(({ state }) => state)).toEqual(["waiting"]);
  outbox.hurry();
  await pass(0);
  expect(sent).toEqual(["apr_1"]);
  const other = world({ answers: [Problem.unreachable()] });
  other.outbox.post(letter("apr_2"));
  await other.pass(GRACE_MS);
  other.outbox.takeBack("reject apr_2");
  await other.pass(60_000);
  expect(other.sent).toEqual([]);
});

test("hurrying does not shorten the moment of grace", async () => {
  const { outbox, sent, pass } = world();
  outbox.post(letter("apr_1"));
  outbox.hurry();
  await pass(0);
  expect(sent).toEqual([]);
});

test("a refusal stays until somebody read it; what was decided already is over", async () => {
  const { outbox, told, pass } = world({
    answers: [refusal("stale_commit"), refusal("already_decided")],
  });
  outbox.post(letter("apr_1"));
  outbox.post(letter("apr_2"));
  await pass(GRACE_MS);
  expect(outbox.items.map(({ identifier, state }) => [identifier, state])).toEqual([
    ["apr_1", "failed"],
  ]);
  expect(told).toEqual(["stale_commit", "already_decided"]);
  outbox.takeBack("reject apr_1");
  expect(outbox.items).toEqual([]);
});

test("a reload loses nothing, and unreadable storage is an empty box", async () => {
  const before = world();
  before.outbox.post(letter("apr_1"));
  const after = world({ kept: before.state.kept });
  expect(after.outbox.items).toHaveLength(1);
  await after.pass(GRACE_MS);
  expect(after.sent).toEqual(["apr_1"]);
  expect(world({ kept: "{nonsense" }).outbox.items).toEqual([]);
});
