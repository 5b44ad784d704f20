import { type ReactNode, useEffect } from "react";
import { namePage } from "../shell/title";
import { oneLine } from "./visible";

/** What this page is about, in a sentence; it also names the tab. */
export function PageHeader({
  title,
  about,
  actions,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
}) {
  useEffect(() => {
    namePage(oneLine(title, 60));
  }, [title]);
  return (
    <div className="mb-4 flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">
          {oneLine(title, 200)}
        </h1>
        {about && <div className="mt-0.5 max-w-[70ch] text-sm text-soft">{about}</div>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </div>
  );
}
