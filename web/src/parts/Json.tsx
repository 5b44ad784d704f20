import { Untrusted } from "./Untrusted";

/** A value as it is, readable: nothing of it is interpreted. */
export function Json({ value, max = 4_000 }: { value: unknown; max?: number }) {
  return (
    <pre className="overflow-x-auto rounded-lg bg-raised px-3 py-2 font-mono text-[0.8rem] leading-relaxed">
      <Untrusted text={JSON.stringify(value, null, 2) ?? "nothing"} max={max} block />
    </pre>
  );
}
