/**
 * A key stands for one submission (per tenant, for 24 h): it is stored in the same transaction as what it stands for, so
 * there is never one without the other, and of calls at the same time only one is accepted.
 */
import { createHash } from "node:crypto";
import type { RequestId } from "@planwright/plan";
import type { ClientSession } from "mongodb";
import { IdempotencyKeyReusedError } from "../errors.ts";
import type { Idempotency, Repeated } from "../store.ts";
import { isDuplicateKey } from "../transient-errors.ts";
import type { ClientContext } from "./context.ts";

/** Where the key of a tenant stands; keys of an operation that changes a request are apart from all others. */
function idOfKey(tenant: string, key: string, operation?: string): string {
  const hash = createHash("sha256").update(key).digest("hex");
  return operation === undefined ? `${tenant}/${hash}` : `${tenant}/${operation}/${hash}`;
}

/** What is to be accepted under a key. */
export interface Submission {
  tenant: string;
  idempotency: Idempotency;
  /** Of the request that it becomes, unless the key has one already. */
  requestId: RequestId;
  insert: (session: ClientSession) => Promise<void>;
}

/**
 * Accepts a submission unless its key has been used, and gives the request that the key stands for.
 * @throws {IdempotencyKeyReusedError} when that was made from something else
 */
export async function acceptOnce(
  { collections, clock, transact }: ClientContext,
  { tenant, idempotency, requestId, insert }: Submission,
): Promise<RequestId> {
  const { idempotencyKeys } = collections;
  const { key, payloadHash } = idempotency;
  const _id = idOfKey(tenant, key);
  for (;;) {
    try {
      await transact(async (session) => {
        const createdAt = new Date(clock.now());
        await idempotencyKeys.insertOne({ _id, payloadHash, requestId, createdAt }, { session });
        await insert(session);
      });
      return requestId;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const found = await idempotencyKeys.findOne({ _id });
      // Its 24 h ended between the two: it is free again.
      if (!found) continue;
      if (found.payloadHash !== payloadHash) {
        throw new IdempotencyKeyReusedError({ requestId: found.requestId });
      }
      return found.requestId;
    }
  }
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
  const _id = idOfKey(tenant, key, operation);
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
