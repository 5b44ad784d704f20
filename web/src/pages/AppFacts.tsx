import { Link } from "@tanstack/react-router";
import type { Status } from "../api/model";
import { StateBadge } from "../parts/Badge";
import { Fact } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Untrusted } from "../parts/Untrusted";

/** What the app does, as the status says it in its open document. */
export type App = {
  release: string | null;
  commit: string | null;
  port: number | null;
  holder: number | null;
  state: string;
  crashes: number;
  deployment: {
    id: string;
    state: string;
    changed_at: string;
    watch_seconds: number | null;
  };
  trouble: string;
};

export const appOf = (status: Status | undefined): App | null =>
  (status?.app ?? null) as unknown as App | null;

/** Whether the app serves, where, and how the last deployment went. */
export function AppFacts({ app }: { app: App }) {
  return (
    <>
      <Fact name="App">
        <StateBadge state={app.state} />{" "}
        {app.port ? (
          <a
            href={`http://127.0.0.1:${app.port}/`}
            className="text-accent underline"
            rel="noreferrer"
          >
            port {app.port}
          </a>
        ) : (
          "on no port"
        )}
        {app.crashes > 0 && (
          <>
            ,{" "}
            <Link to="/ledger" search={{ type: "app_restarted" }} className="text-bad underline">
              {app.crashes} {app.crashes === 1 ? "crash" : "crashes"}
            </Link>
          </>
        )}
      </Fact>
      <Fact name="Last deployment">
        <StateBadge state={app.deployment.state} />{" "}
        <StoryLink id={app.deployment.id}>its records</StoryLink>
      </Fact>
      {app.trouble && (
        <Fact name="Trouble">
          <Untrusted text={app.trouble} max={300} className="text-bad" />
        </Fact>
      )}
    </>
  );
}
