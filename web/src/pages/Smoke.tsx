import { useMutation, useQuery } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import type { SmokeReport } from "../api/model";
import { queryClient, smokeQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Answer, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

/** The last quick check of the running server, part by part, and a button for the next one. */
export function Smoke() {
  const last = useQuery(smokeQuery);
  const run = useMutation({
    mutationFn: () => answer(api.POST("/api/smoke")),
    onSuccess: (report) => {
      queryClient.setQueryData(smokeQuery.queryKey, { last: report });
      void queryClient.invalidateQueries({ queryKey: ["status"] });
    },
  });
  const button = (
    <Button busy={run.isPending} onClick={() => run.mutate()}>
      Check now
    </Button>
  );
  return (
    <Card title="Smoke check" actions={button} padded={false}>
      {run.error && <Trouble error={run.error} />}
      <Answer query={last}>
        {(shown) =>
          shown.last ? (
            <Parts report={shown.last} />
          ) : (
            <p className="px-4 py-3 text-sm text-soft">
              Nobody has run <code className="font-mono">astra smoke</code> yet.
            </p>
          )
        }
      </Answer>
    </Card>
  );
}

function Parts({ report }: { report: SmokeReport }) {
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5 text-sm">
        <Badge tone={report.ok ? "good" : "bad"}>{report.ok ? "all ok" : "failed"}</Badge>
        <Time at={report.at} />
        <span className="text-soft">in {(report.milliseconds / 1000).toFixed(1)} s</span>
      </p>
      <ul>
        {report.items.map((item) => (
          <li
            key={item.name}
            className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2 text-sm last:border-b-0"
          >
            <Badge tone={item.ok ? "good" : "bad"}>{item.ok ? "ok" : "fails"}</Badge>
            <span className="w-28 font-medium">{item.name}</span>
            <span className="min-w-0 flex-1 basis-40 text-soft [overflow-wrap:anywhere]">
              <Untrusted text={item.detail} max={300} />
            </span>
            <span className="text-soft tabular-nums">{Math.round(item.milliseconds)} ms</span>
          </li>
        ))}
      </ul>
    </>
  );
}
