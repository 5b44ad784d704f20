/** The lines of one file that a reviewer asked for, beyond those of the diff. */

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { Change } from "../api/changes";
import { linesQuery } from "../api/queries";
import { type Expanded, everything, expand, learned, NOTHING_KNOWN, type Range } from "./context";
import type { FileDiff } from "./parse";

export type Hidden = Expanded & {
  show: (range: Range) => Promise<void>;
  showAll: () => Promise<void>;
  error: unknown;
};

export function useHidden(change: Change, file: FileDiff): Hidden {
  const client = useQueryClient();
  const [known, setKnown] = useState(NOTHING_KNOWN);
  const [error, setError] = useState<unknown>(null);
  const { id, commit } = change;
  const { path } = file;
  const found = useMemo(() => expand(file, known), [file, known]);
  const show = useCallback(
    async (range: Range) => {
      try {
        const said = await client.fetchQuery(linesQuery(id, commit, { path, ...range }));
        setKnown((now) => learned(now, said.start, said.lines, said.total));
        setError(null);
      } catch (problem) {
        setError(problem);
      }
    },
    [client, id, commit, path],
  );
  const showAll = useCallback(async () => {
    for (const range of everything(found.gaps)) await show(range);
  }, [found.gaps, show]);
  return { ...found, show, showAll, error };
}
