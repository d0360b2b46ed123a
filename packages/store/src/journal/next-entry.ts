import { type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import type { PlanDocument } from "../records/plan-document.ts";
import type { NewEntry } from "./journal.ts";

/** What is told, and who tells it. */
export type ToldNext = Pick<JournalEntry, "by" | "events" | "idempotency">;

/** The entry that tells something behind all that is known of a request, and what is known behind it. */
export interface NextEntry {
  entry: NewEntry;
  after: FoldedRequest;
}

/**
 * An entry behind all that is known of its request. What cannot follow from that is not written: the journal could not be read any more. Pure.
 * @param of - the plan that is told of, or that planning is to make
 * @throws {JournalInvalidError}
 */
export function nextEntry(
  { _id: planId, requestId, tenant }: Pick<PlanDocument, "_id" | "requestId" | "tenant">,
  request: FoldedRequest,
  told: ToldNext,
): NextEntry {
  const entry: NewEntry = { requestId, tenant, planId, seq: request.seq + 1, ...told };
  return { entry, after: fold(request, [{ ...entry, at: new Date(0), writeId: "" }]) };
}
