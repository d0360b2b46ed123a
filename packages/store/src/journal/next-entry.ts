import { fold, type JournalEvent } from "@planwright/engine";
import type { PlanDocument } from "../documents.ts";
import type { NewEntry } from "./journal.ts";
import type { PlanUnits } from "./unit-reads.ts";

/**
 * The entry by which a client or operator tells something of a plan, behind all that is known of its request. What cannot follow from that is
 * not written: the journal could not be read any more. Pure.
 * @throws {JournalInvalidError}
 */
export function nextEntry(
  { _id: planId, requestId, tenant }: Pick<PlanDocument, "_id" | "requestId" | "tenant">,
  { request, seq }: Pick<PlanUnits, "request" | "seq">,
  { by, events }: { by: string; events: JournalEvent[] },
): NewEntry {
  const entry: NewEntry = { requestId, tenant, planId, seq: seq + 1, by: { kind: "api", id: by }, events };
  fold(request, [{ ...entry, at: new Date(0), writeId: "" }]);
  return entry;
}
