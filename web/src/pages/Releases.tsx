import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import {
  type Deployment,
  deploymentsQuery,
  type Release,
  releasesQuery,
  rollbackQuery,
} from "../api/plans";
import { statusQuery } from "../api/queries";
import { Badge, StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card, Fact, Facts } from "../parts/Card";
import { Dialog } from "../parts/Dialog";
import { Digest, StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Sign } from "../parts/Sign";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Deploy } from "../releases/Deploy";
import { Fleet } from "../releases/Fleet";
import { Timeline } from "../releases/Timeline";
import { WatchLeft } from "../releases/WatchLeft";
import { AppFacts, appOf } from "./AppFacts";
import { bytes } from "./bytes";

export function Releases() {
  const releases = useQuery(releasesQuery);
  return (
    <>
      <PageHeader
        title="Releases"
        about="What is live, what was before, and the way back. A release that fails its watch is rolled back by itself."
      />
      <Answer query={releases}>
        {(page) => (
          <div className="space-y-4">
            <Live release={page.items.find((each) => each.live)} />
            <Fleet />
            <Deploy />
            <Timeline />
            <Kept releases={page.items} />
            <History />
          </div>
        )}
      </Answer>
    </>
  );
}

function Live({ release }: { release: Release | undefined }) {
  const { data: status } = useQuery(statusQuery);
  const app = appOf(status);
  return (
    <Card title="Live now" actions={release && <Badge tone="good">live</Badge>}>
      {release ? (
        <Facts>
          <Fact name="What">
            <Brought about={release.about} />
          </Fact>
          <Fact name="Release">
            <StoryLink id={release.id} />
          </Fact>
          <Fact name="Commit">
            <code className="font-mono text-sm">{release.commit.slice(0, 12)}</code>
          </Fact>
          <Fact name="Digest">
            <Digest value={release.digest} />
          </Fact>
          <Fact name="Proven">
            {release.good ? "it stayed healthy for its whole watch" : <WatchLeft app={app} />}
          </Fact>
          {app && <AppFacts app={app} />}
        </Facts>
      ) : (
        <p className="text-sm text-soft">Nothing of the target is deployed yet.</p>
      )}
    </Card>
  );
}

/** What a release brought, in the words of its change. */
function Brought({ about }: { about: string }) {
  return about ? <Untrusted text={`“${about}”`} max={160} /> : <>the target as it came</>;
}

function Kept({ releases }: { releases: Release[] }) {
  const [back, setBack] = useState<Release | null>(null);
  return (
    <Card title="Kept releases" padded={false}>
      {releases.length === 0 && <Empty title="No release has been made yet" />}
      <ul>
        {releases.map((release) => (
          <li
            key={release.id}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0"
          >
            <span className="min-w-0 flex-1 basis-56">
              <Brought about={release.about} />
              <span className="block text-sm text-soft">
                <StoryLink id={release.id} />, commit {release.commit.slice(0, 12)}, {release.files}{" "}
                files, {bytes(release.size)}, built <Time at={release.built_at} />
              </span>
            </span>
            {release.good && !release.live && <Badge tone="good">proven</Badge>}
            <StateBadge state={release.state} />
            {release.quarantined && <Badge tone="bad">quarantined</Badge>}
            {!release.live && release.good && (
              <Button onClick={() => setBack(release)}>Roll back to this…</Button>
            )}
          </li>
        ))}
      </ul>
      {back && <RollBack release={back} onClose={() => setBack(null)} />}
    </Card>
  );
}

function RollBack({ release, onClose }: { release: Release; onClose: () => void }) {
  const client = useQueryClient();
  const wanted = useQuery(rollbackQuery(release.id));
  return (
    <Dialog title="Roll back" onClose={onClose}>
      <p className="mb-3 text-sm text-soft">
        {release.id} takes the app's port over, and what is live now is drained and ended.
      </p>
      <Answer query={wanted} rows={1}>
        {(content) => (
          <Sign
            action="rollback_ordered"
            content={content}
            command={`astra rollback ${release.id}`}
            send={async (authority) => {
              await answer(api.POST("/api/rollback", { body: { release: release.id, authority } }));
              await client.invalidateQueries({ queryKey: ["releases"] });
              onClose();
            }}
          >
            Roll back with your passkey
          </Sign>
        )}
      </Answer>
    </Dialog>
  );
}

function History() {
  const deployments = useQuery(deploymentsQuery);
  return (
    <Card title="Deployments" padded={false}>
      <Answer query={deployments}>
        {(page) =>
          page.items.length === 0 ? (
            <Empty title="Nothing has been deployed yet" />
          ) : (
            <ul>
              {page.items.map((deployment) => (
                <Row key={deployment.id} deployment={deployment} />
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}

function Row({ deployment }: { deployment: Deployment }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 text-sm last:border-b-0">
      <StateBadge state={deployment.state} />
      <span className="min-w-0 flex-1 basis-56">
        {deployment.kind} {deployment.kind === "rollback" ? "to" : "of"}{" "}
        <Brought about={deployment.about} />{" "}
        <code className="font-mono text-xs text-soft">{deployment.commit.slice(0, 12)}</code>
        {deployment.reason && (
          <>
            : <Untrusted text={deployment.reason} max={200} />
          </>
        )}
        {deployment.state === "rolled_back" && <WentBack deployment={deployment} />}
      </span>
      <span className="text-soft">
        <Untrusted text={deployment.requested_by} max={40} /> <Time at={deployment.changed_at} />
      </span>
      <StoryLink id={deployment.correlation}>evidence</StoryLink>
    </li>
  );
}

/** Where an automatic rollback went. */
function WentBack({ deployment }: { deployment: Deployment }) {
  const { rollback_to: release, rollback_about: about } = deployment;
  if (!release) return null;
  return (
    <span className="block text-soft">
      went back to <Brought about={about} /> <StoryLink id={release} />
    </span>
  );
}
