import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import { type Grant, grantsQuery } from "../api/plans";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Choice, Field } from "../parts/Field";
import { Sign } from "../parts/Sign";
import { quoted } from "../parts/shell";
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
        <summary className="text-soft">Add one</summary>
        <Add seen={grants.data?.sequence ?? 0} />
      </details>
    </Card>
  );
}

const KINDS: Record<string, string> = {
  network_domains: "reach a host",
  read_paths: "read a path",
  write_paths: "write to a path",
  skills: "use a skill",
};

const OPTIONS = Object.entries(KINDS).map(([value, name]) => ({ value, name }));

/** Add a grant: the server spells it, and exactly that is signed. */
function Add({ seen }: { seen: number }) {
  const client = useQueryClient();
  const [kind, setKind] = useState("network_domains");
  const [value, setValue] = useState("");
  const spelled = useMutation({
    mutationFn: () =>
      answer(api.GET("/api/agent_global_grants/content", { params: { query: { kind, value } } })),
  });
  const found = spelled.data;
  return (
    <form
      className="mt-2 max-w-xl space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim()) spelled.mutate();
      }}
    >
      <Choice label="Every plan that asks may" value={kind} onChange={setKind} options={OPTIONS} />
      <Field
        label="Which"
        value={value}
        maxLength={400}
        placeholder="example.org"
        onChange={(event) => {
          setValue(event.target.value);
          spelled.reset();
        }}
      />
      {spelled.error && <Trouble error={spelled.error} />}
      {found ? (
        <>
          <p>
            Every plan that names{" "}
            <Untrusted text={found.value} max={200} className="font-mono font-medium" /> gets it (
            {KINDS[found.kind]}), and you are shown it as granted already.
          </p>
          <Sign
            action="agent_global_grant_added"
            content={found}
            command={`astra grants add ${found.kind} ${quoted(found.value)}`}
            send={async (authority) => {
              const body = { kind: found.kind, value: found.value, authority, seen };
              await answer(api.POST("/api/agent_global_grants", { body })).finally(() =>
                client.invalidateQueries({ queryKey: ["grants"] }),
              );
              setValue("");
              spelled.reset();
            }}
          >
            Grant it with your passkey
          </Sign>
        </>
      ) : (
        <Button type="submit" busy={spelled.isPending} disabled={!value.trim()}>
          See what it would mean
        </Button>
      )}
    </form>
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
