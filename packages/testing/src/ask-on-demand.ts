import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "@planwright/plan";
import { z } from "zod";
import { type OnDemand, REPLY_FILE, REQUEST_FILE, ReplySchema } from "./offer-on-demand.ts";

const POLL_EVERY_MS = 10;
/** Downloading MongoDB first takes minutes. */
const TIMEOUT_MS = 600_000;

/**
 * The main process of the test run could not make a part that a test file needs. The message is that of the
 * cause.
 */
export class NotMadeOnDemandError extends CodedError<{ folder: string }> {
  readonly code = "NOT_MADE_ON_DEMAND";
  readonly retryable = false;
  constructor(folder: string, reason: string) {
    super(reason, { folder });
  }
}

/**
 * Asks the main process of the test run for a shared part, such as the servers, and blocks this worker until
 * the part exists. Blocking keeps callers synchronous: they ask once, at the top of a test file. Later calls
 * return at once.
 *
 * @param offer - the offer from the global setup
 * @param schema - the schema of the part's value
 * @throws {NotMadeOnDemandError} when the part could not be made, the main process has ended, or no reply
 * came within 10 minutes
 */
export function askOnDemand<Value>({ folder, pid }: OnDemand, schema: z.ZodType<Value>): Value {
  const replyFile = join(folder, REPLY_FILE);
  const timeoutAt = performance.now() + TIMEOUT_MS;
  requestOnDemand({ folder });
  while (!existsSync(replyFile)) {
    if (!isRunning(pid)) throw new NotMadeOnDemandError(folder, "The main process of the test run has ended");
    if (performance.now() > timeoutAt) throw new NotMadeOnDemandError(folder, `No reply in ${TIMEOUT_MS} ms`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_EVERY_MS);
  }
  const reply = ReplySchema.parse(JSON.parse(readFileSync(replyFile, "utf8")));
  if (!reply.ok) throw new NotMadeOnDemandError(folder, reply.reason);
  return schema.parse(reply.value);
}

/** Asks as {@link askOnDemand} does, but does not wait: for several parts that are made at the same time. */
export function requestOnDemand({ folder }: Pick<OnDemand, "folder">): void {
  if (!existsSync(join(folder, REPLY_FILE))) writeFileSync(join(folder, REQUEST_FILE), "");
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
