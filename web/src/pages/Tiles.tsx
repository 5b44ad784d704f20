import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Status } from "../api/model";
import { Badge, type Tone, toneOf } from "../parts/Badge";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { appOf } from "./AppFacts";
import { bytes } from "./bytes";

/** Each part that can fail, with a word for how it is. */
export function Tiles({ status }: { status: Status }) {
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <AgentTile status={status} />
      <SandboxTile status={status} />
      <ModelTile status={status} />
      <DiskTile status={status} />
      <LedgerTile status={status} />
      <SchedulesTile status={status} />
      <AppTile status={status} />
      <NotifyTile status={status} />
    </div>
  );
}

function AgentTile({ status }: { status: Status }) {
  return (
    <Tile
      name="Agent"
      tone={status.stopped ? "bad" : "good"}
      word={status.stopped ? "stopped" : "may work"}
    >
      code access:{" "}
      <Link to="/safety" className="underline">
        {status.code_access}
      </Link>
    </Tile>
  );
}

function SandboxTile({ status }: { status: Status }) {
  const { state, kind, problems, limits } = status.sandbox;
  const tone = { ok: "good", "not checked yet": "plain" }[state] ?? "bad";
  return (
    <Tile name="Sandbox" tone={tone as Tone} word={state}>
      <Untrusted text={problems[0]?.what ?? `${kind}; ${limits}`} max={160} />
    </Tile>
  );
}

function ModelTile({ status }: { status: Status }) {
  return (
    <Tile
      name="Model"
      tone={status.model ? "good" : "plain"}
      word={status.model ? "configured" : "none"}
    >
      {status.model ? (
        <Untrusted text={status.model} max={120} />
      ) : (
        "Plans are drafted by hand until astra.toml names one."
      )}
    </Tile>
  );
}

function DiskTile({ status }: { status: Status }) {
  const { free, floor, low, reserve } = status.disk;
  return (
    <Tile name="Disk" tone={low ? "bad" : "good"} word={low ? "low" : "enough"}>
      {bytes(free)} free, work rests below {bytes(floor)}; the reserve is {reserve}
    </Tile>
  );
}

function LedgerTile({ status }: { status: Status }) {
  const { trouble, records, time } = status.ledger;
  return (
    <Tile name="Ledger" tone={trouble ? "bad" : "good"} word={trouble ? "trouble" : "writing"}>
      {trouble ? (
        <Untrusted text={trouble} max={160} />
      ) : (
        <>
          <Link to="/ledger" className="underline">
            {records.toLocaleString("en")} records
          </Link>
          , last <Time at={time} />
        </>
      )}
    </Tile>
  );
}

function SchedulesTile({ status }: { status: Status }) {
  const { closed, trouble, active, open } = status.executor;
  return (
    <Tile
      name="Schedules"
      tone={trouble || closed ? "warn" : "good"}
      word={closed ? closed.replaceAll("_", " ") : "running"}
    >
      <Link to="/schedules" className="underline">
        {active} active
      </Link>
      , {open} open firings
      {trouble && (
        <>
          : <Untrusted text={trouble} max={120} />
        </>
      )}
    </Tile>
  );
}

function AppTile({ status }: { status: Status }) {
  const app = appOf(status);
  return (
    <Tile
      name="App"
      tone={app ? (app.state === "running" ? "good" : toneOf(app.state)) : "plain"}
      word={app ? app.state : "not deployed"}
    >
      {app?.release ? (
        <Link to="/releases" className="underline">
          {app.commit?.slice(0, 12)}
        </Link>
      ) : (
        "nothing of the target runs here"
      )}
    </Tile>
  );
}

function NotifyTile({ status }: { status: Status }) {
  const { channels, missing, devices } = status.notify as {
    channels: string[];
    missing: string[];
    devices: number;
  };
  const told = [
    ...channels,
    ...(devices ? [devices === 1 ? "1 device" : `${devices} devices`] : []),
  ];
  return (
    <Tile
      name="Notifications"
      tone={missing.length ? "warn" : told.length ? "good" : "plain"}
      word={missing.length ? "incomplete" : told.length ? "sent" : "no channel"}
    >
      <Untrusted
        text={
          missing.length
            ? `no address for ${missing.join(", ")}`
            : told.join(", ") || "requests are told only by this dashboard and `astra inbox`"
        }
        max={160}
      />
    </Tile>
  );
}

function Tile({
  name,
  tone,
  word,
  children,
}: {
  name: string;
  tone: Tone;
  word: string;
  children: ReactNode;
}) {
  return (
    <section
      aria-label={name}
      className="rounded-card border border-line bg-surface px-4 py-3 text-sm"
    >
      <p className="flex items-center justify-between gap-2 font-semibold">
        {name} <Badge tone={tone}>{word}</Badge>
      </p>
      <p className="mt-1 text-soft [overflow-wrap:anywhere]">{children}</p>
    </section>
  );
}
