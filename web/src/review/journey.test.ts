import { expect, it } from "vitest";
import type { Change } from "../api/changes";
import type { LedgerRecord } from "../api/model";
import { journey } from "./journey";

const change = {
  commit: "c".repeat(40),
  target_branch: "main",
  state: "executed",
  decision: { reason: "", terms: { deploy: true } },
} as unknown as Change;
const plain = { ...change, decision: { reason: "", terms: {} } } as unknown as Change;

let sequence = 0;
const record = (type: string, data: Record<string, unknown> = {}): LedgerRecord =>
  ({
    type,
    data: { deployment: "dep_1", ...data },
    sequence: ++sequence,
  }) as unknown as LedgerRecord;
const merged = () => [record("code_modification_approved"), record("code_modification_executed")];
const requested = () =>
  record("deployment_requested", { commit: change.commit, kind: "deploy", deployment: "dep_1" });
const told = (records: LedgerRecord[], of = change) => {
  const { steps, ending } = journey(of, records);
  return [steps.map((each) => `${each.name} ${each.progress}`), ending];
};

it("begins with the approval, and merges next", () => {
  expect(told([record("code_modification_approved")])).toEqual([
    ["Approved done", "Merged now"],
    "under way",
  ]);
});

it("says of an approval whose it is", () => {
  const words = (terms: Record<string, unknown>) =>
    journey(change, [record("code_modification_approved", { terms })]).steps[0]?.words;
  expect(words({})).toMatch(/^A person approved/);
  expect(words({ permission: "merge_1" })).toBe("The standing permission merge_1 covers it.");
  expect(words({ policy: "target.auto_approve_paths" })).toMatch(/^The signed configuration/);
});

it("tells each step of a deployment, and which one is under way", () => {
  expect(told([...merged(), requested(), record("release_built", { files: 5 })])).toEqual([
    ["Approved done", "Merged done", "Built done", "In service now", "Watched todo"],
    "under way",
  ]);
});

it("ends live when the watch is over", () => {
  const all = ["release_built", "release_switched", "deployment_settled"].map((type) =>
    record(type),
  );
  expect(told([...merged(), requested(), ...all])[1]).toBe("live");
});

it("tells a failure, and the way back", () => {
  const failed = [
    ...merged(),
    requested(),
    record("release_built"),
    record("release_switched"),
    record("deployment_failed", { reason: "not healthy", rolls_back: true }),
  ];
  expect(told(failed)).toEqual([
    [
      "Approved done",
      "Merged done",
      "Built done",
      "In service done",
      "Failed failed",
      "Taken back now",
    ],
    "under way",
  ]);
  expect(told([...failed, record("deployment_rolled_back", { release: "rel-1" })])[1]).toBe(
    "taken back",
  );
  expect(told([...failed, record("rollback_failed")])[1]).toBe("failed");
});

it("says that an approval without the deploy leaves what runs alone", () => {
  expect(told(merged(), plain)).toEqual([
    ["Approved done", "Merged done", "Merged only todo"],
    "merged",
  ]);
});

it("says that an operator took it back, and that it serves again", () => {
  const live = [
    ...merged(),
    requested(),
    record("release_built"),
    record("release_switched"),
    record("deployment_settled"),
  ];
  const out = [...live, record("code_modification_rolled_back", { reason: "an operator did" })];
  expect(told(live)[1]).toBe("live");
  expect(told(out)[1]).toBe("taken back");
  const words = (records: LedgerRecord[]) =>
    journey(change, records).steps.map((step) => step.words);
  expect(words(live).at(-1)).toBe("It stayed healthy for its whole watch: it is live.");
  expect(words(out).at(-2)).toBe("It stayed healthy for its whole watch.");
  const back = [...out, record("change_restored", { release: "rel-1" })];
  expect(told(back)).toEqual([
    [
      "Approved done",
      "Merged done",
      "Built done",
      "In service done",
      "Watched done",
      "In service again done",
    ],
    "live",
  ]);
  expect(told([...back, record("code_modification_rolled_back", { reason: "again" })])[1]).toBe(
    "taken back",
  );
});

it("says why a deployment was declined", () => {
  const declined = record("deployment_declined", { reason: "the tests did not pass" });
  const { steps, ending } = journey(change, [...merged(), declined]);
  expect(ending).toBe("not deployed");
  expect(steps.at(-1)?.words).toContain("the tests did not pass");
});

it("takes no step of another deployment for its own", () => {
  const other = record("deployment_settled", { deployment: "dep_0" });
  expect(told([other, ...merged(), requested()])[1]).toBe("under way");
});
