/** Pages of the records of a request: one read by an index, for any page and any number of requests. */
import type { RequestId } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { listsById, readLists } from "../database/read-lists.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { withDecisions } from "../plans/pending-controls.ts";
import {
  MODEL_CALL_HEAD,
  type ModelCallHead,
  PLAN_HEAD,
  type PlanHead,
  type StoredPlanHead,
} from "../records/document-heads.ts";
import type { ModelCallDocument } from "../records/model-call-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { fromCursorText, toCursorText } from "./cursor.ts";
import type { ListPage, Page } from "./paged-reads.ts";

const VersionSchema = z.tuple([z.number().int().min(1)]);
const CallSchema = z.tuple([z.number().int().min(0), z.string().min(1).max(100)]);

/** The cursor after this version. */
export function planCursor({ version }: Pick<PlanDocument, "version">): string {
  return toCursorText([version]);
}

/** The cursor after this call. */
export function modelCallCursor({ createdAt, _id }: Pick<ModelCallDocument, "createdAt" | "_id">): string {
  return toCursorText([createdAt.getTime(), _id]);
}

/** A list of a collection's documents. */
interface RecordList<T, Complete> {
  collection: { aggregate: Collection<T & Document>["aggregate"] };
  name: string;
  /** Stages that leave out large values. */
  head: readonly Document[];
  /** The order of an index that begins with tenant and request. */
  sort: Document;
  /** Filter for documents after a cursor. @throws {CursorInvalidError} */
  afterCursor: (cursor: string) => Document;
  cursorOf: (one: T) => string;
  /** Adds what is stored elsewhere. */
  complete: (found: readonly T[]) => Promise<Complete[]>;
}

/** The part of the store that reads versions and model calls in pages. */
export function createRecordPages(
  { plans, modelCalls }: Pick<Collections, "plans" | "modelCalls">,
  unitReads: Pick<UnitReads, "ofPlan">,
) {
  return {
    /** Versions of a request's plan, newest first. */
    listPlanPages: pagesOf<StoredPlanHead, PlanHead>({
      collection: plans,
      name: "plans",
      head: PLAN_HEAD,
      sort: { version: -1 },
      afterCursor: (cursor) => ({ version: { $lt: fromCursorText(VersionSchema, cursor)[0] } }),
      cursorOf: planCursor,
      complete: (heads) => withDecisions(unitReads, heads),
    }),
    /** Calls of chat models for a request, oldest first. */
    listModelCallPages: pagesOf<ModelCallHead, ModelCallHead>({
      collection: modelCalls,
      name: "modelCalls",
      head: MODEL_CALL_HEAD,
      sort: { createdAt: 1, _id: 1 },
      afterCursor(cursor) {
        const [time, id] = fromCursorText(CallSchema, cursor);
        const createdAt = new Date(time);
        return { $or: [{ createdAt, _id: { $gt: id } }, { createdAt: { $gt: createdAt } }] };
      },
      cursorOf: modelCallCursor,
      complete: async (heads) => [...heads],
    }),
  };
}

function pagesOf<T extends { requestId: RequestId }, Complete>(list: RecordList<T, Complete>) {
  const { collection, name, head, sort, afterCursor, cursorOf, complete } = list;
  return async (
    tenant: string,
    requestIds: readonly RequestId[],
    { first, after }: ListPage,
  ): Promise<Map<RequestId, Page<Complete>>> => {
    const range = after === undefined ? {} : afterCursor(after);
    const pipelines = requestIds.map((requestId) => [
      { $match: { tenant, requestId, ...range } },
      { $sort: sort },
      { $limit: first + 1 },
      ...head,
    ]);
    const found = await readLists<T & Document>(collection, name, pipelines);
    const lists = listsById<RequestId, T>(requestIds, found, ({ requestId }) => requestId);
    return new Map(
      await Promise.all([...lists].map(async ([id, list]) => [id, await pageOf(list)] as const)),
    );

    async function pageOf(all: readonly T[]): Promise<Page<Complete>> {
      const shown = all.slice(0, first);
      const last = shown.at(-1);
      const items = await complete(shown);
      return { items, cursor: all.length > first && last ? cursorOf(last) : null };
    }
  };
}
