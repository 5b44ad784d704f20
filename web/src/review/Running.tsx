import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import type { Change } from "../api/changes";
import { answer, api } from "../api/client";
import { Button, Spinner } from "../parts/Button";
import { Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";

const LOOK_MS = 1_500;
const KEPT = 6_000;

/** What the tests print while they run, so that nobody wonders whether anything happens. */
export function LiveOutput({ change }: { change: Change }) {
  const read = useRef({ text: "", position: 0 });
  const { data: text = "" } = useQuery({
    queryKey: ["output", change.id, change.round],
    queryFn: async () => {
      const { position } = read.current;
      const found = await answer(
        api.GET("/api/changes/{identifier}/output", {
          params: { path: { identifier: change.id }, query: { after: position } },
        }),
      );
      const whole = found.position < position ? found.text : read.current.text + found.text;
      read.current = { text: whole.slice(-KEPT), position: found.position };
      return read.current.text;
    },
    refetchInterval: LOOK_MS,
    staleTime: 0,
    retry: false,
  });
  return (
    <div className="mt-2 text-sm">
      <p className="flex items-center gap-2 text-soft">
        <Spinner /> The tests run in the sandbox.
      </p>
      {text && (
        <section
          aria-label="What the tests print"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to by keyboard too
          tabIndex={0}
          className="mt-2 max-h-48 overflow-auto rounded-lg bg-raised px-3 py-2 font-mono text-[0.8rem]"
        >
          <Untrusted text={text} max={KEPT} block />
        </section>
      )}
    </div>
  );
}

/** Gather the evidence once more; the approval that waits is withdrawn and asked for anew. */
export function Again({
  change,
  children = "Run the tests again",
}: {
  change: Change;
  children?: ReactNode;
}) {
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: (): Promise<unknown> =>
      answer(
        api.POST("/api/changes/{identifier}/test", {
          params: { path: { identifier: change.id } },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["changes"] }),
  });
  return (
    <div className="mt-3 space-y-2">
      {again.error && <Trouble error={again.error} />}
      <Button busy={again.isPending} onClick={() => again.mutate()}>
        {children}
      </Button>
    </div>
  );
}
