import { emptyRequest, fold } from "@planwright/engine";
import type { ClientSession } from "mongodb";
import type { Collections } from "../collections.ts";
import type { PlanDocument } from "../documents.ts";
import { behind, toEntry, WITHOUT_VALUES } from "./entry-log.ts";
import { outlineOf } from "./plan-units.ts";
import type { PlanUnits } from "./unit-reads.ts";

/** A plan's units as the transaction sees them, without values: what is written in it follows from nothing else. */
export async function readInSession(
  { journal }: Pick<Collections, "journal">,
  plan: PlanDocument,
  session: ClientSession,
): Promise<PlanUnits> {
  const { requestId } = plan;
  const found = await journal
    .find({ _id: behind({ requestId, seq: 0 }) }, { session, projection: WITHOUT_VALUES })
    .sort({ _id: 1 })
    .toArray();
  const request = fold(emptyRequest(requestId), found.map(toEntry));
  return { outline: outlineOf(plan), request, plan: request.plans.get(plan._id), seq: request.seq };
}
