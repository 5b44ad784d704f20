/** The sign of a state, by its form as well as its colour. */
const FORMS: Record<string, string> = {
  pending: "M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12",
  running: "M4 2l10 6l-10 6z",
  waiting: "M3 2h10l-4 6l4 6H3l4-6z",
  succeeded: "M2 8.500l4 4l8-9",
  failed: "M3 3l10 10M13 3L3 13",
  skipped: "M2 8h12",
};

export function Shape({ state, className = "size-3.5" }: { state: string; className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 16 16" className={`shrink-0 ${className}`}>
      <path
        d={FORMS[state] ?? FORMS.pending}
        fill={state === "running" ? "currentColor" : "none"}
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
        {...(state === "pending" ? { strokeDasharray: "3 3" } : {})}
      />
    </svg>
  );
}
