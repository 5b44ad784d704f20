import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../api/client";
import type { Flag } from "../api/model";
import { configurationQuery, flagsQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { PageHeader } from "../parts/PageHeader";
import { Sign } from "../parts/Sign";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { Grants } from "./Grants";
import { Operators } from "./Operators";
import { Tokens } from "./Tokens";

export function Safety() {
  const flags = useQuery(flagsQuery);
  const configuration = useQuery(configurationQuery);
  return (
    <>
      <PageHeader
        title="Safety"
        about="Turning something off is free and counts at once. Turning it on takes your signature."
        actions={
          <Link to="/permissions" className="text-sm text-accent underline underline-offset-2">
            Standing permissions
          </Link>
        }
      />
      <div className="space-y-4">
        <Card title="Flags" padded={false}>
          <Answer query={flags}>
            {(page) => (
              <ul>
                {page.items.map((flag) => (
                  <Row key={flag.name} flag={flag} />
                ))}
              </ul>
            )}
          </Answer>
        </Card>
        <Grants />
        <Operators />
        <Tokens />
        <Card title="The signed configuration">
          <Answer query={configuration} rows={2}>
            {({ text, state, file }) => (
              <>
                <p className="mb-2 text-sm">
                  <Badge tone={state === "signed" ? "good" : "warn"}>{state}</Badge>{" "}
                  <span className="text-soft">
                    <Untrusted text={file} />
                  </span>
                </p>
                <pre className="overflow-x-auto rounded-lg bg-raised px-3 py-2 font-mono text-[0.8rem]">
                  <Untrusted text={text} max={4_000} block />
                </pre>
              </>
            )}
          </Answer>
        </Card>
      </div>
    </>
  );
}

function Row({ flag }: { flag: Flag }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const off = useMutation({
    mutationFn: () => answer(api.POST("/api/flags", { body: { name: flag.name, on: false } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["flags"] }),
  });
  return (
    <li className="border-b border-line px-4 py-3 last:border-b-0">
      <div className="flex items-center justify-between gap-4">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-2">
            <code className="font-mono text-sm font-semibold [overflow-wrap:anywhere]">
              {flag.name}
            </code>
            <Badge tone={flag.on ? "good" : "plain"}>{flag.on ? "on" : "off"}</Badge>
          </p>
          <p className="mt-0.5 text-sm text-soft">
            For {flag.meaning}. {source(flag.source)}
            {flag.sequence ? (
              <>
                {", "}
                <Link
                  to="/ledger"
                  search={{ type: "flag_set" }}
                  className="text-accent underline underline-offset-2"
                >
                  record {flag.sequence}
                </Link>
              </>
            ) : null}
            .{flag.note && !/^record \d+$/.test(flag.note) && ` ${flag.note}.`}
          </p>
        </div>
        {flag.on ? (
          <Button busy={off.isPending} onClick={() => off.mutate()}>
            Turn off
          </Button>
        ) : (
          <Button look="quiet" aria-expanded={asking} onClick={() => setAsking(!asking)}>
            Turn on…
          </Button>
        )}
      </div>
      {off.error && <Trouble error={off.error} />}
      {asking && !flag.on && (
        <div className="mt-3 max-w-xl">
          <Sign
            action="flag_set"
            content={{ flag: flag.name, on: true }}
            command={`astra flags set ${flag.name} on`}
            send={async (authority) => {
              await answer(
                api.POST("/api/flags", {
                  body: { name: flag.name, on: true, authority, seen: flag.sequence ?? 0 },
                }),
              ).finally(() => client.invalidateQueries({ queryKey: ["flags"] }));
            }}
          >
            Turn on with your passkey
          </Sign>
        </div>
      )}
    </li>
  );
}

const SOURCES: Record<string, string> = {
  default: "Nobody set it: this is the default",
  environment: "Turned off by the daemon's environment",
  record: "Turned off by hand",
  operator: "Turned on by an operator's signature",
  forged: "Off: the record that turns it on has no valid signature",
};

function source(name: string): string {
  return SOURCES[name] ?? name;
}
