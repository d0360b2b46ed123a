import { randomUUID } from "node:crypto";
import type { JournalEntry, JournalEvent } from "@planwright/engine";
import type { ClientSession } from "mongodb";
import type { Collections } from "../collections.ts";
import type { PlanDocument } from "../documents.ts";
import type { ServerClock } from "../server-clock.ts";
import { isDuplicateKey } from "../transient-errors.ts";
import { toJournalDocument } from "./entry-log.ts";
import { JournalMovedError } from "./errors.ts";
import type { SessionAppends } from "./session-appends.ts";

/** What appending beside other writes needs. */
export interface AppendContext {
  collections: Pick<Collections, "journal">;
  clock: ServerClock;
  /** Default: nothing is counted. */
  appends?: SessionAppends | undefined;
}

/** What is told, and who tells it. */
export interface ToldInSession {
  by: JournalEntry["by"];
  events: JournalEvent[];
  /** The last entry that what is told follows from. */
  afterSeq: number;
}

/**
 * Appends to a request's journal inside the transaction that moves its plan: both happen, or neither.
 * @throws {JournalMovedError} when another entry came between: the transaction begins anew
 */
export async function appendInSession(
  { collections, clock, appends }: AppendContext,
  { _id: planId, requestId, tenant }: Pick<PlanDocument, "_id" | "requestId" | "tenant">,
  { by, events, afterSeq }: ToldInSession,
  session: ClientSession,
): Promise<void> {
  const entry = toJournalDocument({
    requestId,
    tenant,
    planId,
    seq: afterSeq + 1,
    by,
    at: new Date(clock.now()),
    writeId: randomUUID(),
    events,
  });
  const begunAt = performance.now();
  try {
    await collections.journal.insertOne(entry, { session });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    appends?.taken(performance.now() - begunAt);
    throw new JournalMovedError({ place: entry._id });
  }
  appends?.inserted(session, performance.now() - begunAt);
}
