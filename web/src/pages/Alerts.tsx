import { useQuery } from "@tanstack/react-query";
import type { Alert, AlertRule } from "../api/model";
import { alertsQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { Command } from "../parts/Command";
import { StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Records } from "./Records";

export function Alerts() {
  const alerts = useQuery(alertsQuery);
  return (
    <>
      <PageHeader
        title="Alerts"
        about="What is unusual now, what every rule compares, and what alerts did lately."
      />
      <Answer query={alerts}>
        {(shown) => (
          <div className="space-y-4">
            <Card title="Raised now" padded={false}>
              {shown.items.length ? (
                <ul>
                  {shown.items.map((alert) => (
                    <Raised key={alert.id} alert={alert} />
                  ))}
                </ul>
              ) : (
                <Empty title="No alert is raised" />
              )}
            </Card>
            <Card title="Rules" padded={false}>
              <ul>
                {shown.rules.map((rule) => (
                  <RuleRow key={rule.name} rule={rule} />
                ))}
              </ul>
            </Card>
            <Card title="Lately" padded={false}>
              {shown.history.length ? (
                <Records records={shown.history} />
              ) : (
                <Empty title="No alert was ever raised here" />
              )}
            </Card>
          </div>
        )}
      </Answer>
    </>
  );
}

const toneOfSeverity = (severity: string) => (severity === "critical" ? "bad" : "warn");

function Raised({ alert }: { alert: Alert }) {
  return (
    <li className="space-y-1.5 border-b border-line px-4 py-3 text-sm last:border-b-0">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={alert.silenced ? "plain" : toneOfSeverity(alert.severity)}>
          {alert.silenced ? "silenced" : alert.severity}
        </Badge>
        <span className="font-medium">
          <Untrusted text={alert.name} />
        </span>
        <span className="text-soft">
          since <Time at={alert.raised_at} />
        </span>
        <StoryLink id={alert.id} />
      </p>
      <p className="[overflow-wrap:anywhere]">
        <Untrusted text={alert.text} max={400} />
      </p>
      <Command line={alert.next_step} />
      {!alert.silenced && <Command line={`astra alerts silence ${alert.name} --reason TEXT`} />}
    </li>
  );
}

function RuleRow({ rule }: { rule: AlertRule }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-4 py-2 text-sm last:border-b-0">
      <Badge tone={rule.beyond ? toneOfSeverity(rule.severity) : "good"}>
        {rule.value === null ? "not known" : rule.value}
      </Badge>
      <span className="w-32 font-medium">
        <Untrusted text={rule.name} />
      </span>
      <span className="min-w-0 flex-1 basis-56 text-soft [overflow-wrap:anywhere]">
        <Untrusted text={rule.about || rule.rule} max={200} />{" "}
        <span className="whitespace-nowrap">({rule.rule})</span>
      </span>
      {rule.silenced_until && (
        <Badge tone="plain">
          silenced until <Time at={rule.silenced_until} />
        </Badge>
      )}
    </li>
  );
}
