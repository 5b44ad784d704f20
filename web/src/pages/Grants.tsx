import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { type Grant, grantsQuery } from "../api/plans";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Command } from "../parts/Command";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";

/** What every plan gets when it asks; taking back is free, adding takes a signature. */
export function Grants() {
  const grants = useQuery(grantsQuery);
  return (
    <Card title="Granted to every plan">
      <Answer query={grants} rows={2}>
        {(page) => (
          <>
            {page.items.length === 0 && (
              <p className="text-sm text-soft">Nothing: each plan asks for what it needs.</p>
            )}
            <ul className="space-y-1.5">
              {page.items.map((grant) => (
                <Row key={`${grant.kind} ${grant.value}`} grant={grant} />
              ))}
            </ul>
          </>
        )}
      </Answer>
      <details className="mt-3 text-sm">
        <summary className="text-soft">Add one, in a terminal</summary>
        <div className="mt-2 max-w-xl">
          <Command line="astra grants add network_domains example.org" />
        </div>
      </details>
    </Card>
  );
}

function Row({ grant }: { grant: Grant }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (): Promise<unknown> =>
      answer(
        api.DELETE("/api/agent_global_grants", {
          params: { query: { kind: grant.kind, value: grant.value } },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["grants"] }),
  });
  return (
    <li className="flex items-center gap-2">
      <Badge>{grant.kind.replaceAll("_", " ")}</Badge>
      <span className="min-w-0 flex-1">
        <Untrusted text={grant.value} max={200} className="font-mono text-sm" />
      </span>
      {remove.error && <Trouble error={remove.error} />}
      <Button busy={remove.isPending} onClick={() => remove.mutate()}>
        Take back
      </Button>
    </li>
  );
}
