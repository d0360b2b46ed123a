import { createLogger, type Logger } from "@planwright/runtime";
import { z } from "zod";
import type { Checker } from "../checker/checker.ts";
import type { EventLog } from "../world/event-log.ts";

/** Errors that a run may end with: the database was away, as the store says it or as the driver does. */
const EXPECTED: readonly (string | undefined)[] = ["STORE_UNAVAILABLE", "MongoNetworkError"];

const LineSchema = z.object({
  executor: z.string(),
  err: z.object({ code: z.string().optional(), name: z.string().optional(), message: z.string() }).optional(),
});

/** The logger of all executors of a world. What they log as an error ends a run: it has to be one of those that may. */
export function createErrorLogger({ checker, log }: { checker: Checker; log: EventLog }): Logger {
  function heard(line: string): void {
    const { executor, err } = LineSchema.parse(JSON.parse(line));
    if (!err) return;
    const code = err.code ?? err.name;
    log.note(executor, "ends a run:", code ?? "", err.message);
    if (!EXPECTED.includes(code)) checker.fail("no-surprise", `${executor} ended a run: ${line}`);
  }
  return createLogger({ service: "executor", level: "error", destination: { write: heard } });
}
