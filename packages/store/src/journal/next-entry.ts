import { type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import type { PlanDocument } from "../records/plan-document.ts";
import type { NewEntry } from "./journal.ts";

/** The events of an entry, and their author. */
export type EntryContent = Pick<JournalEntry, "by" | "events" | "idempotency">;

/** The next entry of a journal, and the request as it is after that entry. */
export interface NextEntry {
  entry: NewEntry;
  after: FoldedRequest;
}

/**
 * The next entry of a journal. Events that cannot follow from the current state of the request are refused:
 * with them the journal could not be folded any more. Pure.
 * @param plan - the plan that the events are about, or that planning is to make
 * @param request - the state after the last entry
 * @throws {JournalInvalidError}
 */
export function nextEntry(
  { _id: planId, requestId, tenant }: Pick<PlanDocument, "_id" | "requestId" | "tenant">,
  request: FoldedRequest,
  content: EntryContent,
): NextEntry {
  const entry: NewEntry = { requestId, tenant, planId, seq: request.seq + 1, ...content };
  return { entry, after: fold(request, [{ ...entry, at: new Date(0), writeId: "" }]) };
}
