import { useQueryClient } from "@tanstack/react-query";
import { createContext, use } from "react";
import { Problem } from "../api/problem";

const MOVED = 409;

/** Where a plan's page says that the plan moved on before a decision reached it. */
export const Told = createContext<(error: unknown) => void>(() => undefined);

/**
 * Send a decision, and look at the plan again. When it was decided on something that is not so any
 * more, what moved is said in one place that stays, because the button that was pressed may not.
 */
export function useDeciding(): (send: () => Promise<unknown>) => Promise<void> {
  const client = useQueryClient();
  const tell = use(Told);
  return async (send) => {
    try {
      await send();
      tell(null);
    } catch (error) {
      if (Problem.of(error).status !== MOVED) throw error;
      tell(error);
    } finally {
      await client.invalidateQueries({ queryKey: ["agents"] });
    }
  };
}
