import type { ReactNode } from "react";
import type { Blocked } from "../api/plans";
import { Json } from "../parts/Json";
import { Untrusted } from "../parts/Untrusted";
import { wantedInWords } from "./words";

/** What a plan stands before: what it wanted, what it was refused, and why. */
export function Block({ block }: { block: Blocked }) {
  const { in_words: words, ...rest } = block;
  return (
    <div className="space-y-3 text-sm">
      <dl className="space-y-2">
        {block.step !== undefined && (
          <Fact name="Where">
            <a href={`#step-${block.step}`} className="text-accent hover:underline">
              step {block.step}
            </a>
          </Fact>
        )}
        <Wanted block={block} />
        <Refused block={block} />
        {block.ran && <Ran ran={block.ran} />}
      </dl>
      {!block.items && words && <Untrusted text={words} block max={600} />}
      <details>
        <summary className="text-soft">the record, exactly</summary>
        <Json value={rest} max={800} />
      </details>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-soft">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

function Wanted({ block }: { block: Blocked }) {
  const wanted = wantedInWords(block);
  if (!wanted) return null;
  return (
    <Fact name="It wanted to">
      {wanted.what}
      {wanted.exactly && (
        <Untrusted
          text={wanted.exactly}
          block
          max={400}
          className="mt-1 rounded-md bg-raised px-2 py-1 font-mono text-[0.8rem]"
        />
      )}
    </Fact>
  );
}

const KINDS: Record<string, string> = {
  network_domains: "reach",
  read_paths: "read",
  write_paths: "write to",
  skills: "use",
  destructive_ops: "destroy with",
};

function Refused({ block }: { block: Blocked }) {
  if (!block.items?.length) return null;
  return (
    <>
      <Fact name="Refused">
        <ul>
          {block.items.map(([kind, value]) => (
            <li key={`${kind} ${value}`}>
              to {KINDS[kind] ?? kind.replaceAll("_", " ")}{" "}
              <Untrusted text={value} max={200} className="font-mono font-medium" />
            </li>
          ))}
        </ul>
      </Fact>
      <Fact name="Why">
        Neither what you approved for this plan names it, nor what is granted to every plan.
      </Fact>
    </>
  );
}

function Ran({ ran }: { ran: NonNullable<Blocked["ran"]> }) {
  return (
    <Fact name="So far">
      It ran once without it and ended: <Untrusted text={ran.outcome} max={60} />.
      <details className="mt-1">
        <summary className="text-soft">what came of it</summary>
        <Untrusted text={ran.result} block max={600} className="mt-1 font-mono text-[0.8rem]" />
      </details>
    </Fact>
  );
}
