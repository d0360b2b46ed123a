/**
 * Pages of what happened to a request: its journal event by event, without what may be large. One read by the
 * index of places.
 */
import type { RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { listsById, readLists } from "../database/read-lists.ts";
import { behind, WITHOUT_VALUES } from "../journal/entry-log.ts";
import { EVENT_LISTS, type EventHead, MAX_LISTED } from "../records/document-heads.ts";
import { fromCursorText, toCursorText } from "./cursor.ts";
import type { ListPage, Page, PagedReads } from "./paged-reads.ts";

/**
 * What is left out beside {@link WITHOUT_VALUES}: all other places where an output may stand, whole or in
 * part, and what users answered.
 */
const MORE_VALUES = ["events.outputRef.preview", "events.resolution.output", "events.answers.answer"];

const CursorSchema = z.tuple([z.number().int().min(1).max(99_999_999), z.number().int().min(0)]);

/** Opaque: continues a list after this event. */
export function eventCursor({ seq, position }: Pick<EventHead, "seq" | "position">): string {
  return toCursorText([seq, position]);
}

/** The part of the store that reads journals in pages. */
export function createEventPages({
  journal,
}: Pick<Collections, "journal">): Pick<PagedReads, "listEventPages"> {
  return {
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

/** Stages that give the events of a page, and one more where others follow. */
function pageOf(
  tenant: string,
  requestId: RequestId,
  { first, from }: { first: number; from: [seq: number, position: number] | null },
): Document[] {
  const [seq, position] = from ?? [1, -1];
  return [
    // The entry of the cursor may hold more events behind it.
    { $match: { _id: behind({ requestId, seq: seq - 1 }), tenant } },
    { $sort: { _id: 1 } },
    // Each entry has an event at least; the cursor's may have none behind it.
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

/** Made of a list where the event has it. */
function ofList(list: string, made: Document): Document {
  return { $cond: [{ $isArray: `$events.${list}` }, made, "$$REMOVE"] };
}

function toHead({ requestId, planId, seq, position, at, by, events, lengths = {} }: Document): EventHead {
  return { requestId, planId, seq, position, at, by, event: events, lengths };
}
