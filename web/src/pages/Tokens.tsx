import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import type { components } from "../api/schema";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Command } from "../parts/Command";
import { Answer, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

type Token = components["schemas"]["TokenShown"];

/** Which programs may come in, for what and until when; taking one back is free. */
export function Tokens() {
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: () => answer(api.GET("/api/tokens")),
  });
  return (
    <Card title="Tokens of programs">
      <Answer query={tokens} rows={2}>
        {({ items }) => {
          const open = items.filter((token) => !token.ended);
          return (
            <>
              {open.length === 0 && <p className="text-sm text-soft">No program has one.</p>}
              <ul className="space-y-2 text-sm">
                {open.map((token) => (
                  <Row key={token.id} token={token} />
                ))}
              </ul>
            </>
          );
        }}
      </Answer>
      <div className="mt-3 space-y-1 text-sm text-soft">
        <p>A token takes the operator's key, so it is made in a terminal:</p>
        <Command line="astra tokens create NAME --role agent --toolset source --days 30" />
      </div>
    </Card>
  );
}

function Row({ token }: { token: Token }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/tokens/{identifier}/revoke", { params: { path: { identifier: token.id } } }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  return (
    <li>
      <div className="flex items-start justify-between gap-4">
        <p className="min-w-0">
          <strong className="font-semibold">
            <Untrusted text={token.name} />
          </strong>{" "}
          <Badge tone="plain">{token.role}</Badge>{" "}
          <span className="text-soft">
            until <Time at={token.expires_at} />, made by {token.made_by || "nobody"}
            {token.mine && ", who asks with it"}. For <Untrusted text={scope(token)} />.
          </span>
        </p>
        <Button busy={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </Button>
      </div>
      {revoke.error && <Trouble error={revoke.error} />}
    </li>
  );
}

function scope({ limits }: Token): string {
  const parts = [
    ...(limits.tools.length ? [`the tools ${limits.tools.join(", ")}`] : []),
    ...(limits.tier < 2 ? [`tier ${limits.tier} at most`] : []),
    ...(limits.paths.length ? [`the paths ${limits.paths.join(", ")}`] : []),
    ...(limits.routes.length ? [`the routes ${limits.routes.join(", ")}`] : []),
  ];
  return parts.join("; ") || "all that its role may";
}
