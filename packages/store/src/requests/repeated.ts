/**
 * Idempotency keys of changes (for each tenant and operation, for 24 h). The key is stored in the entry of
 * the change, so neither is stored without the other.
 */
import { createHash } from "node:crypto";
import type { JournalEntry } from "@planwright/engine";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { IdempotencyKeyReusedError } from "../records/errors.ts";
import { type Idempotency, KEY_LIFE_MS } from "./acceptance-store.ts";
import type { Repeated } from "./change-store.ts";

type EntryKey = NonNullable<JournalEntry["idempotency"]>;

/** The key as it is stored in an entry. Pure. */
export function entryKeyOf(operation: string, { key, payloadHash }: Idempotency): EntryKey {
  return { key: `${operation}/${createHash("sha256").update(key).digest("hex")}`, payloadHash };
}

/**
 * The request that this key has changed before, as it is now; undefined when the key is new.
 * @throws {IdempotencyKeyReusedError} when the key was used for another change
 */
export async function findRepeated(
  { collections: { journal, requests }, clock }: Pick<StoreDependencies, "collections" | "clock">,
  tenant: string,
  { key, payloadHash }: EntryKey,
): Promise<Repeated | undefined> {
  const after = new Date(clock.now() - KEY_LIFE_MS);
  const found = await journal.findOne({ tenant, "idempotency.key": key, at: { $gt: after } });
  if (!found) return undefined;
  // The entries of a request name it by its id.
  const requestId = found.requestId as Repeated["request"]["_id"];
  if (found.idempotency?.payloadHash !== payloadHash) throw new IdempotencyKeyReusedError({ requestId });
  const request = await requests.findOne({ _id: requestId, tenant });
  return request ? { type: "repeated", request } : undefined;
}
