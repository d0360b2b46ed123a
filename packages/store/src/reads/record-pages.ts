/** Pages of the records of a request: one read by an index, for any page and any number of requests. */
import { groupBy, type RequestId, RequestIdSchema } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { readLists } from "../database/read-lists.ts";
import { entryIdOf, idsAfter, WITHOUT_VALUES } from "../journal/entry-log.ts";
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

interface RecordList<T, Complete> {
  collection: { aggregate: Collection<T & Document>["aggregate"] };
  name: string;
  /** Stages that read this many, after a cursor. @throws {CursorInvalidError} */
  stages: (
    of: { tenant: string; requestId: RequestId },
    count: number,
    after: string | undefined,
  ) => Document[];
  cursorOf: (one: T) => string;
  /** Adds what is stored elsewhere. */
  complete: (found: readonly T[]) => Promise<Complete[]>;
}

/** The part of the store that reads versions, model calls and events in pages. */
export function createRecordPages({ plans, modelCalls, journal }: Collections, unitReads: UnitReads) {
  return {
    listPlanPages: pagesOf<StoredPlanHead, PlanHead>({
      collection: plans,
      name: "plans",
      stages(of, count, after) {
        const range = after !== undefined && { version: { $lt: fromCursorText(VersionSchema, after)[0] } };
        return [{ $match: { ...of, ...range } }, { $sort: { version: -1 } }, { $limit: count }, ...PLAN_HEAD];
      },
      cursorOf: planCursor,
      complete: (heads) => withDecisions(unitReads, heads),
    }),
    listModelCallPages: pagesOf<ModelCallHead, ModelCallHead>({
      collection: modelCalls,
      name: "modelCalls",
      stages(of, count, after) {
        const sort = { createdAt: 1, _id: 1 };
        return [
          { $match: { ...of, ...afterCall(after) } },
          { $sort: sort },
          { $limit: count },
          ...MODEL_CALL_HEAD,
        ];
      },
      cursorOf: modelCallCursor,
      complete: async (heads) => [...heads],
    }),
    listEventPages: pagesOf<StoredEvent, EventHead>({
      collection: journal,
      name: "journal",
      stages: eventsAfter,
      cursorOf: eventCursor,
      complete: async (events) => events.map(toHead),
    }),
    /** The latest events first; `after` is a cursor to continue with the events before it. */
    listLatestEventPages: pagesOf<StoredEvent, EventHead>({
      collection: journal,
      name: "journal",
      stages: eventsBefore,
      cursorOf: eventCursor,
      complete: async (events) => events.map(toHead),
    }),
  };
}

function afterCall(cursor: string | undefined): Document {
  if (cursor === undefined) return {};
  const [time, id] = fromCursorText(CallSchema, cursor);
  const createdAt = new Date(time);
  return { $or: [{ createdAt, _id: { $gt: id } }, { createdAt: { $gt: createdAt } }] };
}

function pagesOf<T extends { requestId: RequestId }, Complete>(list: RecordList<T, Complete>) {
  const { collection, name, stages, cursorOf, complete } = list;
  return async (
    tenant: string,
    requestIds: readonly RequestId[],
    { first, after }: ListPage,
  ): Promise<Map<RequestId, Page<Complete>>> => {
    const pipelines = requestIds.map((requestId) => stages({ tenant, requestId }, first + 1, after));
    const found = await readLists<T & Document>(collection, name, pipelines);
    const lists = groupBy<RequestId, T>(found, ({ requestId }) => requestId);
    const pages = requestIds.map(async (id) => {
      const { items, cursor } = pageOf(lists.get(id) ?? [], first, cursorOf);
      return [id, { items: await complete(items), cursor }] as const;
    });
    return new Map(await Promise.all(pages));
  };
}

/* Pages of a request's journal, event by event, without large values. One read by the index of entry ids. */

/** Left out besides {@link WITHOUT_VALUES}: other fields with parts of outputs, and answers of users. */
const MORE_VALUES = ["events.outputRef.preview", "events.resolution.output", "events.answers.answer"];

const WITHOUT_LARGE_VALUES = { $unset: [...Object.keys(WITHOUT_VALUES), ...MORE_VALUES] };

const EventCursorSchema = z.tuple([z.number().int().min(1).max(99_999_999), z.number().int().min(0)]);

/** The cursor after this event. */
export function eventCursor({ seq, position }: Pick<EventHead, "seq" | "position">): string {
  return toCursorText([seq, position]);
}

/** An event as {@link eventsAfter} reads it. */
type StoredEvent = Pick<EventHead, "requestId" | "seq" | "position"> & Document;

/** Stages that read these many events after a cursor. */
function eventsAfter(
  { tenant, requestId }: { tenant: string; requestId: RequestId },
  count: number,
  after: string | undefined,
): Document[] {
  const [seq, position] = after === undefined ? [1, -1] : fromCursorText(EventCursorSchema, after);
  return [
    // The entry of the cursor may have more events after it.
    { $match: { _id: idsAfter({ requestId, seq: seq - 1 }), tenant } },
    { $sort: { _id: 1 } },
    // Each entry has at least one event; the entry of the cursor may have none after it.
    { $limit: count + 1 },
    WITHOUT_LARGE_VALUES,
    { $unwind: { path: "$events", includeArrayIndex: "position" } },
    { $match: { $or: [{ seq: { $gt: seq } }, { position: { $gt: position } }] } },
    { $limit: count },
    WITH_SHORT_LISTS,
  ];
}

/** Stages that read these many events before a cursor, the latest one first. */
function eventsBefore(
  { tenant, requestId }: { tenant: string; requestId: RequestId },
  count: number,
  before: string | undefined,
): Document[] {
  const [seq, position] = before === undefined ? [null, 0] : fromCursorText(EventCursorSchema, before);
  const ids = idsAfter({ requestId, seq: 0 });
  return [
    { $match: { _id: seq === null ? ids : { ...ids, $lte: entryIdOf({ requestId, seq }) }, tenant } },
    { $sort: { _id: -1 } },
    { $limit: count + 1 },
    WITHOUT_LARGE_VALUES,
    { $set: { events: { $reverseArray: "$events" }, last: { $subtract: [{ $size: "$events" }, 1] } } },
    { $unwind: { path: "$events", includeArrayIndex: "position" } },
    { $set: { position: { $subtract: ["$last", "$position"] } } },
    ...(seq === null ? [] : [{ $match: { $or: [{ seq: { $lt: seq } }, { position: { $lt: position } }] } }]),
    { $limit: count },
    WITH_SHORT_LISTS,
  ];
}

/** Shortens the lists of events, and keeps their lengths. */
const WITH_SHORT_LISTS = {
  $set: Object.fromEntries(
    EVENT_LISTS.flatMap((list) => [
      [`lengths.${list}`, ofList(list, { $size: `$events.${list}` })],
      [`events.${list}`, ofList(list, { $slice: [`$events.${list}`, MAX_LISTED] })],
    ]),
  ),
};

/** An expression for a list; the field is absent if the event does not have the list. */
function ofList(list: string, made: Document): Document {
  return { $cond: [{ $isArray: `$events.${list}` }, made, "$$REMOVE"] };
}

function toHead({ requestId, planId, seq, position, at, by, events, lengths = {} }: StoredEvent): EventHead {
  return { requestId, planId, seq, position, at, by, event: events, lengths };
}

/** A page of a list; `cursor` continues after its last item, null at the end. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}

/** The first elements of what was found; there is another page when more was found. Pure. */
export function pageOf<T>(found: readonly T[], first: number, cursorOf: (last: T) => string): Page<T> {
  const items = found.slice(0, first);
  const last = items.at(-1);
  return { items, cursor: found.length > first && last !== undefined ? cursorOf(last) : null };
}

/** A page of a list. A cursor is valid only for its list. */
export interface ListPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
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
