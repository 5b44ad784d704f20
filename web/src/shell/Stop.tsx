import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import { statusQuery, stopQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { Sign } from "../parts/Sign";
import { Trouble } from "../parts/states";
import { useKeys } from "./keys";

/** Ends everything the agent runs. Stopping is free; starting again takes a signature. */
export function StopButton() {
  const [asking, setAsking] = useState(false);
  const { data: status } = useQuery(statusQuery);
  useKeys([
    { keys: "!", does: "stop everything", run: () => setAsking(true), group: "Everywhere" },
  ]);
  if (status?.stopped) return null;
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        <Icon name="stop" className="size-4" />
        Stop
      </Button>
      {asking && <StopDialog onClose={() => setAsking(false)} />}
    </>
  );
}

function StopDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const stop = useMutation({
    mutationFn: (keepApp: boolean) =>
      answer(api.POST("/api/stop", { body: { keep_app: keepApp } })),
    onSuccess: async () => {
      await client.invalidateQueries();
      onClose();
    },
  });
  return (
    <Dialog title="Stop everything the agent runs?" onClose={onClose}>
      <p className="text-sm text-soft">
        Sandboxes, schedules and plans end at once. Nothing is lost from the ledger. Starting again
        takes your signature: <code className="font-mono">astra start</code> in a terminal.
      </p>
      {stop.error && (
        <div className="mt-3">
          <Trouble error={stop.error} />
        </div>
      )}
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button busy={stop.isPending} onClick={() => stop.mutate(true)}>
          Stop, keep the app serving
        </Button>
        <Button look="danger" autoFocus busy={stop.isPending} onClick={() => stop.mutate(false)}>
          Stop now
        </Button>
      </div>
    </Dialog>
  );
}

/** What every page says while work is stopped. */
export function StoppedBand() {
  const client = useQueryClient();
  const { data: status } = useQuery(statusQuery);
  const { data: stop } = useQuery({ ...stopQuery, enabled: status?.stopped === true });
  if (!status?.stopped) return null;
  return (
    <div role="alert" className="border-b border-bad/40 bg-bad-wash px-4 py-3 text-sm">
      <p className="mb-2 font-medium text-bad">
        Stopped. Nothing of the agent runs until you start it again.
      </p>
      <div className="max-w-md">
        <Sign
          action="work_started"
          content={{ stop: stop?.stop ?? "" }}
          command="astra start"
          disabled={!stop?.stop}
          send={async (authority) => {
            await answer(api.POST("/api/start", { body: { stop: stop?.stop ?? "", authority } }));
            await client.invalidateQueries();
          }}
        >
          Start again with your passkey
        </Sign>
      </div>
    </div>
  );
}
