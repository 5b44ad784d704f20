import { useQuery } from "@tanstack/react-query";
import type { OperatorListed } from "../api/model";
import { operatorsQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { Command } from "../parts/Command";
import { Answer } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

/** Who may sign what, how many it takes, and what has some of its signatures. */
export function Operators() {
  return (
    <Card title="Operators">
      <Answer query={useQuery(operatorsQuery)} rows={2}>
        {({ items, rules, waiting }) => (
          <>
            <ul className="space-y-1.5 text-sm">
              {items.map((operator) => (
                <Row key={operator.name} operator={operator} />
              ))}
            </ul>
            <ul className="mt-2 text-sm text-soft">
              {Object.entries(rules.quorum).map(
                ([name, count]) =>
                  count > 1 && (
                    <li key={name}>
                      {name}: {count} operators sign
                    </li>
                  ),
              )}
              {rules.separate_approver && <li>Who asked may not approve.</li>}
            </ul>
            {waiting.map((round) => (
              <div key={round.round} className="mt-3 space-y-1 text-sm">
                <p>
                  <Badge tone="warn">{round.action.replaceAll("_", " ")}</Badge> {round.words}
                </p>
                <Command line={`astra operators sign ${round.round.slice(0, 16)}`} />
              </div>
            ))}
          </>
        )}
      </Answer>
    </Card>
  );
}

function Row({ operator }: { operator: OperatorListed }) {
  const { duties, tier, paths } = operator.role;
  const limits = [
    ...(tier < 2 ? [`up to tier ${tier}`] : []),
    ...(paths.length ? [`in ${paths.join(", ")}`] : []),
  ];
  return (
    <li>
      <strong className="font-semibold">{operator.name}</strong>{" "}
      <code className="font-mono text-[0.8rem]">{operator.fingerprint}</code> may sign{" "}
      <Untrusted text={[...duties, ...limits].join(", ")} />
      <span className="text-soft">
        , since <Time at={operator.since} />
        {operator.signed_by.length > 0 && `, by ${operator.signed_by.join(" and ")}`}
        {operator.passkeys.length > 0 && ", passkeys: "}
        <Untrusted text={operator.passkeys.join(", ")} />
        {operator.users.length > 0 && `, at a terminal as ${operator.users.join(", ")}`}
      </span>
    </li>
  );
}
