import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Told, told, turnOff, turnOn } from "../api/push";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Answer, Trouble } from "../parts/states";

const SAYS: Record<Told, string> = {
  unsupported: "This browser cannot be told. On an iPhone, add Astra to the home screen first.",
  blocked: "You blocked notifications for this page. Allow them in the browser's settings.",
  off: "When something waits, this device can show that it does, and open it.",
  on: "When something waits, this device shows that it does, and opens it when you tap.",
};

/** The switch that has this device told by push. */
export function Push() {
  const client = useQueryClient();
  const state = useQuery({ queryKey: ["push"], queryFn: told });
  const flip = useMutation({
    mutationFn: (on: boolean) => (on ? turnOn() : turnOff()),
    onSuccess: (now) => client.setQueryData(["push"], now),
  });
  return (
    <Card title="Notifications on this device">
      <Answer query={state} rows={1}>
        {(now) => (
          <div className="flex items-center justify-between gap-4">
            <p className="min-w-0 text-sm text-soft">
              <Badge tone={now === "on" ? "good" : now === "off" ? "plain" : "warn"}>{now}</Badge>{" "}
              {SAYS[now]}
            </p>
            {(now === "on" || now === "off") && (
              <Button busy={flip.isPending} onClick={() => flip.mutate(now === "off")}>
                {now === "on" ? "Turn off" : "Turn on"}
              </Button>
            )}
          </div>
        )}
      </Answer>
      {flip.error && <Trouble error={flip.error} />}
    </Card>
  );
}
