import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import {
  type CallPermission,
  callPermissionsQuery,
  type MergePermission,
  mergePermissionsQuery,
  removeCallPermission,
  removeMergePermission,
} from "../api/permissions";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { announce } from "../shell/announce";
import { AddCall } from "./AddCall";
import { AddMerge } from "./AddMerge";

/** What may happen without a signature each time: listed, counted, taken back freely. */
export function Permissions() {
  return (
    <>
      <PageHeader
        title="Standing permissions"
        about="What you signed for in advance: so often, until then, under conditions. Taking one back is free and counts at once."
      />
      <div className="space-y-4">
        <Card title="Changes that may be merged without asking you" padded={false}>
          <Answer query={useQuery(mergePermissionsQuery)} rows={2}>
            {(page) => <Merges permissions={page.items} />}
          </Answer>
          <Adding>
            <AddMerge />
          </Adding>
        </Card>
        <Card title="Calls that may reach a host without asking you" padded={false}>
          <Answer query={useQuery(callPermissionsQuery)} rows={2}>
            {(page) => <Calls permissions={page.items} />}
          </Answer>
          <Adding>
            <AddCall />
          </Adding>
        </Card>
      </div>
    </>
  );
}

function Adding({ children }: { children: ReactNode }) {
  return (
    <details className="border-t border-line px-4 py-3 text-sm">
      <summary className="py-1 text-soft">Add one</summary>
      {children}
    </details>
  );
}

function Merges({ permissions }: { permissions: MergePermission[] }) {
  if (permissions.length === 0) return <Empty title="No change is permitted in advance here" />;
  return (
    <ul>
      {permissions.toReversed().map((permission) => (
        <Row key={permission.id} permission={permission} remove={removeMergePermission}>
          <Untrusted text={permission.words} max={1_000} block />
        </Row>
      ))}
    </ul>
  );
}

function Calls({ permissions }: { permissions: CallPermission[] }) {
  if (permissions.length === 0) return <Empty title="No call is permitted in advance" />;
  return (
    <ul>
      {permissions.toReversed().map((permission) => (
        <Row key={permission.id} permission={permission} remove={removeCallPermission}>
          <span className="font-mono text-sm">
            {permission.tool} {permission.method}{" "}
            <Untrusted text={permission.host} max={300} className="font-semibold" />
          </span>
        </Row>
      ))}
    </ul>
  );
}

/** One of either kind; what is over stays in the list, and says why. */
function Row({
  permission,
  remove,
  children,
}: {
  permission: CallPermission | MergePermission;
  remove: (identifier: string) => Promise<unknown>;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const { id, used, uses, state } = permission;
  const usable = state === "usable";
  const removal = useMutation({
    mutationFn: () => remove(id),
    onSuccess: () => announce("The permission is taken back."),
    onSettled: () => client.invalidateQueries({ queryKey: ["permissions"] }),
  });
  return (
    <li className="flex flex-col gap-2 border-b border-line px-4 py-3 last:border-b-0 sm:flex-row sm:items-center sm:gap-6">
      <div className="min-w-0 flex-1">
        {children}
        <p className="mt-1 text-sm text-soft">
          <StoryLink id={id}>{id}</StoryLink>, signed <Time at={permission.added_at} />
        </p>
        {removal.error && <Trouble error={removal.error} />}
      </div>
      <div className="shrink-0 space-y-1.5 text-sm text-soft sm:w-56">
        <p>
          {used} of {uses} used,{" "}
          {usable ? (
            <>
              ends <Time at={permission.until} coming />
            </>
          ) : (
            <Badge>{state.replaceAll("_", " ")}</Badge>
          )}
        </p>
        <Meter value={used} max={uses} label="how much of it is used" />
      </div>
      {usable && (
        <Button busy={removal.isPending} onClick={() => removal.mutate()}>
          Take back
        </Button>
      )}
    </li>
  );
}
