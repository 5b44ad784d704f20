import { TextDecoderStream } from "node:stream/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Feed, parse } from "./events";
import type { LedgerRecord } from "./model";
import { keep } from "./session";

const record = (sequence: number): string =>
  `id: ${sequence}\nevent: flag_set\ndata: {"sequence": ${sequence}, "type": "flag_set"}\n\n`;

function streamOf(...texts: string[]): Response {
  const bytes = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(bytes.encode(text));
      controller.close();
    },
  });
  return new Response(body);
}

beforeEach(() => {
  vi.stubGlobal("TextDecoderStream", TextDecoderStream); // browsers have it, the test's page does not
  keep({
    id: "ses_1",
    role: "operator",
    by: "link",
    expires_at: "2999-01-01T00:00:00Z",
    csrf: null,
    secret: "s",
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  keep(null);
});

it("reads a record, and nothing from comments or noise", () => {
  expect(parse(record(7).trimEnd())?.sequence).toBe(7);
  expect(parse(": still here")).toBeNull();
  expect(parse("data: not json")).toBeNull();
});

it("resumes behind the last record it has seen, and gives each once", async () => {
  const asked: (string | null)[] = [];
  const answers = [
    streamOf(record(1), record(2).slice(0, 9), record(2).slice(9)),
    streamOf(record(2), record(3)),
  ];
  const seen: number[] = [];
  const feed = new Feed();
  const done = new Promise<void>((resolve) => {
    vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
      asked.push(new Headers(init.headers).get("Last-Event-ID"));
      const next = answers.shift();
      if (next) return next;
      resolve();
      throw new Error("gone");
    });
  });
  feed.onRecords((records: LedgerRecord[]) => seen.push(...records.map((each) => each.sequence)));
  feed.start();
  await done;
  feed.stop();
  expect(seen).toEqual([1, 2, 3]);
  expect(asked.slice(0, 3)).toEqual([null, "2", "3"]);
});
