/**
 * A client's own name for a change of a request (per tenant and operation, for 24 h): it is stored in the same transaction as the change, so
 * there is never one without the other, and of calls at the same time only one makes it.
 */
import { createHash } from "node:crypto";
import type { RequestId } from "@planwright/plan";
import type { ClientSession } from "mongodb";
import { IdempotencyKeyReusedError } from "../errors.ts";
import type { Idempotency, Repeated } from "../store.ts";
import { isDuplicateKey } from "../transient-errors.ts";
import type { ClientContext } from "./context.ts";

/** Where the key stands. */
function idOfKey(tenant: string, operation: string, key: string): string {
  return `${tenant}/${operation}/${createHash("sha256").update(key).digest("hex")}`;
}

/** A change of a request that may be asked for under a key. */
export interface KeyedChange<Answer> {
  tenant: string;
  /** Such as "rerun". */
  operation: string;
  /** Default: what is asked for again is done again. */
  idempotency?: Idempotency | undefined;
  /** The change, in a transaction. */
  change: (session: ClientSession) => Promise<Answer>;
  /** The request that the change was made to; undefined where nothing was changed: then the key stays free. */
  changed: (answer: Answer) => RequestId | undefined;
}

/**
 * Makes a change unless its key has made it before.
 * @throws {IdempotencyKeyReusedError} when the key made another change
 */
export async function changeOnce<Answer>(
  { collections, clock, transact }: ClientContext,
  { tenant, operation, idempotency, change, changed }: KeyedChange<Answer>,
): Promise<Answer | Repeated> {
  if (!idempotency) return transact(change);
  const { idempotencyKeys, requests } = collections;
  const { key, payloadHash } = idempotency;
  const _id = idOfKey(tenant, operation, key);
  for (;;) {
    try {
      return await transact(async (session): Promise<Answer | Repeated> => {
        const found = await idempotencyKeys.findOne({ _id }, { session });
        const request = found && (await requests.findOne({ _id: found.requestId, tenant }, { session }));
        if (found && found.payloadHash !== payloadHash) {
          throw new IdempotencyKeyReusedError({ requestId: found.requestId });
        }
        if (request) return { type: "repeated", request };
        const answer = await change(session);
        const requestId = changed(answer);
        if (requestId === undefined) return answer;
        const createdAt = new Date(clock.now());
        await idempotencyKeys.insertOne({ _id, payloadHash, requestId, createdAt }, { session });
        return answer;
      });
    } catch (error) {
      // Another call with this key was first, and its change is seen when this begins anew.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}
