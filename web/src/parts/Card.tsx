import type { ReactNode } from "react";

export function Card({
  title,
  actions,
  children,
  className = "",
  padded = true,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  padded?: boolean;
}) {
  return (
    <section className={`rounded-card border border-line bg-surface ${className}`}>
      {title && (
        <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2.5">
          <h2 className="text-sm font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className={padded ? "px-4 py-3" : ""}>{children}</div>
    </section>
  );
}

/** Names and values, in two columns where there is room. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[6.5rem_1fr] items-baseline gap-x-4 gap-y-2 sm:grid-cols-[minmax(8rem,auto)_1fr] sm:gap-x-6">
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-sm text-soft [overflow-wrap:anywhere]">{name}</dt>
      <dd className="min-w-0 text-sm [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
