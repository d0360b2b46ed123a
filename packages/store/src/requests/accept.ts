import { type Retry, repeatUntilAnswered } from "../database/repeat-until-answered.ts";
import { createBatches } from "../journal/batches.ts";
import { StoreUnavailableError, WriteNotPossibleError } from "../records/errors.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { AcceptanceLog, Accepted } from "./acceptance-log.ts";

/** Options of {@link createAccept}. */
interface AcceptOptions extends Retry {
  log: AcceptanceLog;
  /** See `BatchesOptions`. */
  soon?: ((happen: () => void) => void) | undefined;
}

/**
 * Accepts requests and plans.
 *
 * 1. A request is stored before its plan: there is never a plan without its request.
 * 2. Work that arrives while bulks are in flight goes out together. Work that cannot be stored at all fails
 *    alone.
 * 3. When the process and MongoDB die between the two inserts, a request without its plan remains, and its
 *    client got no answer. A repeat with the same key stores the plan. Without a key the request is removed
 *    (`removeHalfAccepted`).
 */
export type Accept = ReturnType<typeof createAccept>;

interface Waiting {
  accepted: Accepted;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Acceptance over a log. */
export function createAccept(options: AcceptOptions) {
  const { log } = options;
  const batches = createBatches<Waiting>({ send: commit, soon: options.soon });

  const untilAnswered = <T>(attempt: () => Promise<T>): Promise<T> =>
    repeatUntilAnswered("accept", attempt, options);

  async function commit(batch: readonly Waiting[]): Promise<void> {
    try {
      await untilAnswered(() => log.insert(batch.map(({ accepted }) => accepted)));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (error instanceof StoreUnavailableError) for (const { reject } of batch) reject(error);
      else if (batch.length > 1) for (const one of batch) await commit([one]);
      else for (const { accepted, reject } of batch) reject(failureOf(accepted, error));
    }
  }

  return {
    /** Durable when it resolves. @throws {StoreUnavailableError | WriteNotPossibleError} */
    store: (accepted: Accepted) =>
      new Promise<void>((resolve, reject) => batches.add({ accepted, resolve, reject })),
    /** The same, or false when the key belongs to another request. @throws {StoreUnavailableError} */
    storeKeyed: (accepted: Accepted) => untilAnswered(() => log.insertKeyed(accepted)),
    /** Resolves when nothing is waiting or in flight. */
    idle: () => batches.idle(),
  };
}

function failureOf(
  { request, plan }: { request: RequestDocument; plan?: PlanDocument | undefined },
  error: unknown,
) {
  return new WriteNotPossibleError({ ids: [request._id, ...(plan ? [plan._id] : [])] }, error);
}
