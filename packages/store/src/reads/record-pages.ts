/** Pages of the records of a request: one read by an index, for any page and any number of requests. */
import type { RequestId } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { listsById, readLists } from "../database/read-lists.ts";
import { MODEL_CALL_HEAD, type ModelCallHead, PLAN_HEAD, type PlanHead } from "../records/document-heads.ts";
import type { ModelCallDocument } from "../records/model-call-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { fromCursorText, toCursorText } from "./cursor.ts";
import type { ListPage, Page, PagedReads } from "./paged-reads.ts";

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
interface RecordList<T> {
  collection: { aggregate: Collection<T & Document>["aggregate"] };
  name: string;
  /** Stages that leave out large values. */
  head: readonly Document[];
  /** The order of an index that begins with tenant and request. */
  sort: Document;
  /** Filter for documents after a cursor. @throws {CursorInvalidError} */
  afterCursor: (cursor: string) => Document;
  cursorOf: (one: T) => string;
}

/** The part of the store that reads versions and model calls in pages. */
export function createRecordPages({
  plans,
  modelCalls,
}: Pick<Collections, "plans" | "modelCalls">): Pick<PagedReads, "listPlanPages" | "listModelCallPages"> {
  return {
    listPlanPages: pagesOf<PlanHead>({
      collection: plans,
      name: "plans",
      head: PLAN_HEAD,
      sort: { version: -1 },
      afterCursor: (cursor) => ({ version: { $lt: fromCursorText(VersionSchema, cursor)[0] } }),
      cursorOf: planCursor,
    }),
    listModelCallPages: pagesOf<ModelCallHead>({
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
    }),
  };
}

function pagesOf<T extends { requestId: RequestId }>(list: RecordList<T>) {
  const { collection, name, head, sort, afterCursor, cursorOf } = list;
  return async (
    tenant: string,
    requestIds: readonly RequestId[],
    { first, after }: ListPage,
  ): Promise<Map<RequestId, Page<T>>> => {
    const range = after === undefined ? {} : afterCursor(after);
    const pipelines = requestIds.map((requestId) => [
      { $match: { tenant, requestId, ...range } },
      { $sort: sort },
      { $limit: first + 1 },
      ...head,
    ]);
    const found = await readLists<T & Document>(collection, name, pipelines);
    const lists = listsById<RequestId, T>(requestIds, found, ({ requestId }) => requestId);
    return new Map([...lists].map(([id, list]) => [id, pageOf(list)]));

    function pageOf(all: readonly T[]): Page<T> {
      const items = all.slice(0, first);
      const last = items.at(-1);
      return { items, cursor: all.length > first && last ? cursorOf(last) : null };
    }
  };
}
