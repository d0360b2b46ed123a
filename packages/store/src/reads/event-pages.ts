/** Pages of a request's journal, event by event, without large values. One read by the index of entry ids. */
import type { RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { listsById, readLists } from "../database/read-lists.ts";
import { idsAfter, WITHOUT_VALUES } from "../journal/entry-log.ts";
import { EVENT_LISTS, type EventHead, MAX_LISTED } from "../records/document-heads.ts";
import { fromCursorText, toCursorText } from "./cursor.ts";
import type { ListPage, Page } from "./paged-reads.ts";

/**
 * Fields that are left out in addition to {@link WITHOUT_VALUES}: all other fields that may contain an output
 * or a part of one, and the answers of users.
 */
const MORE_VALUES = ["events.outputRef.preview", "events.resolution.output", "events.answers.answer"];

const CursorSchema = z.tuple([z.number().int().min(1).max(99_999_999), z.number().int().min(0)]);

/** The cursor after this event. */
export function eventCursor({ seq, position }: Pick<EventHead, "seq" | "position">): string {
  return toCursorText([seq, position]);
}

/** The part of the store that reads journals in pages. */
export function createEventPages({ journal }: Pick<Collections, "journal">) {
  return {
    /** Events of a request's journal, in its order. */
    async listEventPages(
      tenant: string,
      requestIds: readonly RequestId[],
      { first, after }: ListPage,
    ): Promise<Map<RequestId, Page<EventHead>>> {
      const from = after === undefined ? null : fromCursorText(CursorSchema, after);
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
