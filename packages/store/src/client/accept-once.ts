/**
 * A key stands for one submission (per tenant, for 24 h): it is stored in the same transaction as what it stands for, so
 * there is never one without the other, and of calls at the same time only one is accepted.
 */
import { createHash } from "node:crypto";
import type { RequestId } from "@planwright/plan";
import type { ClientSession } from "mongodb";
import { IdempotencyKeyReusedError } from "../errors.ts";
import type { Idempotency } from "../store.ts";
import { isDuplicateKey } from "../transient-errors.ts";
import type { ClientContext } from "./context.ts";

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
  const _id = `${tenant}/${createHash("sha256").update(key).digest("hex")}`;
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
