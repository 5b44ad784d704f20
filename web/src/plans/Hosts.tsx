/** Which hosts of a plan exist: asked of the name server only when somebody presses the button. */

import { useMutation } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import type { ManifestItem } from "../api/plans";
import { Button } from "../parts/Button";
import { Trouble } from "../parts/states";

export type Hosts = {
  outcomeOf: (item: ManifestItem) => string | undefined;
  lookUp: () => void;
  pending: boolean;
  trouble: unknown;
};

export function useHosts(plan: string): Hosts {
  const asking = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/agents/{identifier}/hosts", { params: { path: { identifier: plan } } }),
      ),
  });
  const items = asking.data?.items ?? [];
  return {
    outcomeOf: ({ kind, value }) =>
      kind === "network_domains" ? items.find((item) => item.value === value)?.outcome : undefined,
    lookUp: () => asking.mutate(),
    pending: asking.isPending,
    trouble: asking.error,
  };
}

export function LookUpHosts({ hosts }: { hosts: Hosts }) {
  return (
    <div className="mt-3 space-y-1.5 text-sm">
      <p className="text-soft">
        The agent chose these names. Looking them up tells whoever runs the domains that you did.
      </p>
      <Button onClick={hosts.lookUp} disabled={hosts.pending}>
        {hosts.pending ? "Looking them up…" : "Look up which hosts exist"}
      </Button>
      {Boolean(hosts.trouble) && <Trouble error={hosts.trouble} />}
    </div>
  );
}
