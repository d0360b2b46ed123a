import { createLogger, type Logger } from "@planwright/runtime";
import { z } from "zod";
import type { Checker } from "../checker/checker.ts";
import type { EventLog } from "../world/event-log.ts";

/** Errors that may end a run: the database was unreachable, as the store or the driver reports it. */
const EXPECTED: readonly (string | undefined)[] = ["STORE_UNAVAILABLE", "MongoNetworkError"];

const LineSchema = z.object({
  executor: z.string(),
  err: z.object({ code: z.string().optional(), name: z.string().optional(), message: z.string() }).optional(),
});

/**
 * The logger of all executors of a world. A logged error ends a run, so it must be one of the expected
 * errors.
 */
export function createErrorLogger({ checker, log }: { checker: Checker; log: EventLog }): Logger {
  function read(line: string): void {
    const { executor, err } = LineSchema.parse(JSON.parse(line));
    if (!err) return;
    const code = err.code ?? err.name;
    log.note(executor, "ends a run:", code ?? "", err.message);
    if (!EXPECTED.includes(code)) checker.fail("no-surprise", `${executor} ended a run: ${line}`);
  }
  return createLogger({ service: "executor", level: "error", destination: { write: read } });
}
