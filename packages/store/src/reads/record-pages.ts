/**
 * Pages of what is recorded under a request: one read by an index, however far back the page is and of
 * however many requests at once.
 */
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

/** Opaque: continues a list after this version. */
export function planCursor({ version }: Pick<PlanDocument, "version">): string {
  return toCursorText([version]);
}

/** Opaque: continues a list after this call. */
export function modelCallCursor({ createdAt, _id }: Pick<ModelCallDocument, "createdAt" | "_id">): string {
  return toCursorText([createdAt.getTime(), _id]);
}

/** What makes a list of a collection's documents. */
interface RecordList<T> {
  collection: { aggregate: Collection<T & Document>["aggregate"] };
  name: string;
  /** Leaves out what may be large. */
  head: readonly Document[];
  /** In the order of an index that begins with tenant and request. */
  sort: Document;
  /** What lies behind a cursor. @throws {CursorInvalidError} */
  behind: (cursor: string) => Document;
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
      behind: (cursor) => ({ version: { $lt: fromCursorText(VersionSchema, cursor)[0] } }),
      cursorOf: planCursor,
    }),
    listModelCallPages: pagesOf<ModelCallHead>({
      collection: modelCalls,
      name: "modelCalls",
      head: MODEL_CALL_HEAD,
      sort: { createdAt: 1, _id: 1 },
      behind(cursor) {
        const [time, id] = fromCursorText(CallSchema, cursor);
        const createdAt = new Date(time);
        return { $or: [{ createdAt, _id: { $gt: id } }, { createdAt: { $gt: createdAt } }] };
      },
      cursorOf: modelCallCursor,
    }),
  };
}

function pagesOf<T extends { requestId: RequestId }>(list: RecordList<T>) {
  const { collection, name, head, sort, behind, cursorOf } = list;
  return async (
    tenant: string,
    requestIds: readonly RequestId[],
    { first, after }: ListPage,
  ): Promise<Map<RequestId, Page<T>>> => {
    const range = after === undefined ? {} : behind(after);
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
