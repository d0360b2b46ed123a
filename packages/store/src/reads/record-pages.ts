/** Pages of the records of a request: one read by an index, for any page and any number of requests. */
import { type RequestId, RequestIdSchema, type StepStatus } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { listsById, readLists } from "../database/read-lists.ts";
import { idsAfter, WITHOUT_VALUES } from "../journal/entry-log.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { withDecisions } from "../plans/plan-needs.ts";
import {
  EVENT_LISTS,
  type EventHead,
  MAX_LISTED,
  MODEL_CALL_HEAD,
  type ModelCallHead,
  PLAN_HEAD,
  type PlanHead,
  type StoredPlanHead,
} from "../records/document-heads.ts";
import { CursorInvalidError } from "../records/errors.ts";
import type { ModelCallDocument } from "../records/model-call-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";

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
export function createRecordPages({ plans, modelCalls }: Collections, unitReads: UnitReads) {
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

/* Pages of a request's journal, event by event, without large values. One read by the index of entry ids. */

/** Left out besides {@link WITHOUT_VALUES}: other fields with parts of outputs, and answers of users. */
const MORE_VALUES = ["events.outputRef.preview", "events.resolution.output", "events.answers.answer"];

const EventCursorSchema = z.tuple([z.number().int().min(1).max(99_999_999), z.number().int().min(0)]);

/** The cursor after this event. */
export function eventCursor({ seq, position }: Pick<EventHead, "seq" | "position">): string {
  return toCursorText([seq, position]);
}

/** The part of the store that reads journals in pages. */
export function createEventPages({ journal }: Collections) {
  return {
    /** Events of a request's journal, in its order. */
    async listEventPages(
      tenant: string,
      requestIds: readonly RequestId[],
      { first, after }: ListPage,
    ): Promise<Map<RequestId, Page<EventHead>>> {
      const from = after === undefined ? null : fromCursorText(EventCursorSchema, after);
      const pipelines = requestIds.map((requestId) => pageOf(tenant, requestId, { first, from }));
      const found = await readLists<Document>(journal, "journal", pipelines);
      const lists = listsById(requestIds, found.map(toHead), ({ requestId }) => requestId);
      return new Map(
        [...lists].map(([id, all]) => {
          const items = all.slice(0, first);
          const last = items.at(-1);
          return [id, { items, cursor: all.length > first && last ? eventCursor(last) : null }];
        }),
      );
    },
  };
}

/** Stages that read the events of a page, and one more if there is one. */
function pageOf(
  tenant: string,
  requestId: RequestId,
  { first, from }: { first: number; from: [seq: number, position: number] | null },
): Document[] {
  const [seq, position] = from ?? [1, -1];
  return [
    // The entry of the cursor may have more events after it.
    { $match: { _id: idsAfter({ requestId, seq: seq - 1 }), tenant } },
    { $sort: { _id: 1 } },
    // Each entry has at least one event; the entry of the cursor may have none after it.
    { $limit: first + 2 },
    { $unset: [...Object.keys(WITHOUT_VALUES), ...MORE_VALUES] },
    { $unwind: { path: "$events", includeArrayIndex: "position" } },
    { $match: { $or: [{ seq: { $gt: seq } }, { position: { $gt: position } }] } },
    { $limit: first + 1 },
    {
      $set: Object.fromEntries(
        EVENT_LISTS.flatMap((list) => [
          [`lengths.${list}`, ofList(list, { $size: `$events.${list}` })],
          [`events.${list}`, ofList(list, { $slice: [`$events.${list}`, MAX_LISTED] })],
        ]),
      ),
    },
  ];
}

/** An expression for a list; the field is absent if the event does not have the list. */
function ofList(list: string, made: Document): Document {
  return { $cond: [{ $isArray: `$events.${list}` }, made, "$$REMOVE"] };
}

function toHead({ requestId, planId, seq, position, at, by, events, lengths = {} }: Document): EventHead {
  return { requestId, planId, seq, position, at, by, event: events, lengths };
}

/** A page of a list; `cursor` continues after its last item, null at the end. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}

/** A page of a list. A cursor is valid only for its list. */
export interface ListPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
}

/** A filter of steps and items of a plan. All given fields have to match. */
export interface StepFilter {
  status?: readonly StepStatus[] | undefined;
  /** Position of a step in the plan, from 0: selects the step and its items. */
  position?: number | undefined;
  /** True: only items of forEach steps; false: only steps. */
  items?: boolean | undefined;
  /** This item of a forEach step, from 0; null: the step itself. */
  item?: number | null | undefined;
}

/** A page of the steps and items of a plan. */
export interface StepPage extends ListPage {
  filter?: StepFilter | undefined;
}

/** The units of a plan that a diagnosis may name. */
export interface DiagnosedUnits<Unit> {
  /** In plan order: all steps, up to 1,000 items that failed or are open, and some of the others. */
  units: Unit[];
  /** Numbers of all items by their status, for each list. */
  itemCounts: Map<string, { [status in StepStatus]?: number }>;
}

const RequestCursorSchema = z.tuple([z.number().int().min(0), RequestIdSchema]);

/** The last request of a page; opaque to clients. */
export interface RequestCursor {
  createdAt: Date;
  id: string;
}

/** The cursor of a position. */
export function toCursor(position: RequestCursor): string {
  return toCursorText([position.createdAt.getTime(), position.id]);
}

/** @throws {CursorInvalidError} if the text is not from {@link toCursor} */
export function parseCursor(text: string): RequestCursor {
  const [createdAt, id] = fromCursorText(RequestCursorSchema, text);
  return { createdAt: new Date(createdAt), id };
}

/** A cursor, from the values after which a list continues. */
export function toCursorText(values: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** The values in a cursor. @throws {CursorInvalidError} for a text that is not of this kind of list */
export function fromCursorText<T>(schema: z.ZodType<T>, text: string): T {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    throw new CursorInvalidError({ cursor: text.slice(0, 100) });
  }
  const parsed = schema.safeParse(decoded);
  if (!parsed.success) throw new CursorInvalidError({ cursor: text.slice(0, 100) });
  return parsed.data;
}
