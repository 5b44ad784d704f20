import type { ReactNode } from "react";
import { Problem } from "../api/problem";
import { Button } from "./Button";
import { PageHeader } from "./PageHeader";
import { Untrusted } from "./Untrusted";

/** Nothing here, and what would make something appear. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-1.5 px-6 py-12 text-center">
      <svg aria-hidden="true" viewBox="0 0 48 48" className="mb-1 size-10 text-line-strong">
        <g fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round">
          <circle cx="24" cy="24" r="15" />
          <path d="M17 25l5 5 9-11" />
        </g>
      </svg>
      <p className="font-medium">{title}</p>
      {children && <div className="max-w-[52ch] text-sm text-soft">{children}</div>}
    </div>
  );
}

export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="space-y-3 px-4 py-4">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <div key={row} className="animate-pulse space-y-2">
          <div className="h-3.5 w-2/5 rounded bg-raised" />
          <div className="h-3 w-4/5 rounded bg-raised" />
        </div>
      ))}
    </div>
  );
}

/** What went wrong, why, and what to do about it. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = Problem.of(error);
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-wash px-4 py-3 text-sm">
      <p className="font-medium text-bad">
        <Untrusted text={problem.detail} />
      </p>
      {problem.nextStep && (
        <p className="mt-1 text-ink">
          Next: <Untrusted text={problem.nextStep} />
        </p>
      )}
      <p className="mt-1 flex items-center gap-3 text-soft">
        <code className="font-mono text-xs">{problem.code}</code>
        {retry && (
          <Button look="quiet" className="min-h-7 px-2 py-0.5" onClick={retry}>
            Try again
          </Button>
        )}
      </p>
    </div>
  );
}

/** An answer, or the state that stands in for it. */
export function Answer<T>({
  query,
  rows,
  whole = false,
  children,
}: {
  query: { data?: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown };
  rows?: number;
  whole?: boolean;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isPending && !query.error) return <Loading {...(rows ? { rows } : {})} />;
  return (
    <div className={whole ? "" : "p-4"}>
      {whole && <PageHeader title="This cannot be shown" />}
      <Trouble error={query.error} retry={() => query.refetch()} />
    </div>
  );
}
