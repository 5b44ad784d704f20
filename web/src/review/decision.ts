/** What a signature under a change stands for: the facts, the ticks they need, the terms they give. */

import type { Finding } from "../api/changes";
import type { components } from "../api/schema";
import { quoted } from "../parts/shell";

export type Fact = components["schemas"]["FactShown"];
export type DecisionFacts = components["schemas"]["FactsShown"];
export type Terms = {
  consent?: string[];
  despite_tests?: string;
  despite_quarantine?: string[];
  deploy?: true;
};

export const factKey = (fact: Fact): string => `${fact.name} ${fact.value ?? fact.text}`;

/** The facts that need a tick each; some of them count only where the yes includes the deploy. */
export const redFacts = (facts: readonly Fact[], deploy: boolean): Fact[] =>
  facts.filter((fact) => fact.red && (deploy || !fact.with_deploy));

/** Give what is signed besides yes, from the facts that were ticked. */
export function termsOf(facts: readonly Fact[], ticked: ReadonlySet<string>, deploy: boolean) {
  const chosen = redFacts(facts, deploy).filter((fact) => ticked.has(factKey(fact)));
  const values = (term: string) =>
    chosen.flatMap((fact) => (fact.term === term && fact.value ? [fact.value] : [])).toSorted();
  const consent = values("consent");
  const commits = values("despite_quarantine");
  const [verdict] = values("despite_tests");
  const terms: Terms = {
    ...(consent.length > 0 ? { consent } : {}),
    ...(commits.length > 0 ? { despite_quarantine: commits } : {}),
    ...(verdict ? { despite_tests: verdict } : {}),
    ...(deploy ? { deploy: true as const } : {}),
  };
  return terms;
}

/** Word the same decision as the command for a terminal. */
export function commandOf(approval: string, terms: Terms): string {
  return [
    `astra approve ${approval}`,
    ...(terms.consent ?? []).map((path) => `--consent ${quoted(path)}`),
    ...(terms.deploy ? ["--deploy"] : []),
    ...(terms.despite_tests ? ["--despite-tests"] : []),
    ...(terms.despite_quarantine ?? []).map((commit) => `--despite-quarantine ${commit}`),
  ].join(" ");
}

const KINDS = ["danger", "warning", "info"];

/** Count findings as their title does: "14 findings, 6 danger". */
export function findingsTitle(findings: readonly Finding[] | null): string {
  if (!findings) return "Findings";
  if (findings.length === 0) return "No findings";
  const kinds = KINDS.map((kind) => ({
    kind,
    count: findings.filter(({ severity }) => severity === kind).length,
  })).filter(({ count }) => count > 0);
  const total = `${findings.length} ${findings.length === 1 ? "finding" : "findings"}`;
  return [total, ...kinds.map(({ kind, count }) => `${count} ${kind}`)].join(", ");
}

/** The most dangerous first, as they should be read. */
export const ranked = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => KINDS.indexOf(a.severity) - KINDS.indexOf(b.severity));

export const unseenFiles = (paths: readonly string[], viewed: readonly string[]): string[] =>
  paths.filter((path) => !viewed.includes(path));
