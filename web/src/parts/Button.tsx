import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Look = "plain" | "main" | "danger" | "quiet";

const LOOKS: Record<Look, string> = {
  plain: "border-line-strong bg-surface text-ink hover:bg-raised",
  main: "border-transparent bg-accent text-accent-ink hover:brightness-110",
  danger: "border-bad/40 bg-bad-wash text-bad hover:border-bad",
  quiet: "border-transparent bg-transparent text-soft hover:bg-raised hover:text-ink",
};

export const buttonClass = (look: Look = "plain") =>
  `inline-flex min-h-9 shrink-0 items-center justify-center gap-1.5 rounded-lg border px-3 py-1.5 text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-55 ${LOOKS[look]}`;

export function Button({
  look = "plain",
  hint,
  busy = false,
  className = "",
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: Look;
  hint?: string;
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={`${buttonClass(look)} ${className}`}
    >
      {busy && <Spinner />}
      {children}
      {hint && <Key name={hint} />}
    </button>
  );
}

/** The key that does the same, for people with a keyboard. */
export function Key({ name }: { name: string }) {
  return (
    <kbd className="ml-0.5 hidden rounded border border-current/30 px-1 font-mono text-[0.7rem] leading-4 md:inline">
      {name}
    </kbd>
  );
}

export function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent"
    />
  );
}
