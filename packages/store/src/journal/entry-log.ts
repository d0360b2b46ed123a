import { setImmediate } from "node:timers/promises";
import type { JournalEntry, JournalEvent } from "@planwright/engine";
import { type Document, MongoBulkWriteError } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { isDuplicateKey, notCommittedYet } from "../database/transient-errors.ts";
import type { JournalDocument } from "../records/request-document.ts";
import { followOneByOne, type HeadWrite, sendTogether } from "./pending-write.ts";

/** Digits of a seq in the id of an entry: ids sort as texts. */
const SEQ_DIGITS = 8;

/** The position of an entry: its request and its seq. */
export type EntryPosition = Pick<JournalEntry, "requestId" | "seq">;

/** The parts of entries to read, so that no more than these are in memory. */
interface UnitSelection {
  keys: readonly string[];
  /** With arguments, and the data that tools added to errors. */
  body: boolean;
  output: boolean;
}

/** Events of an entry. */
export type SelectedEvents = EntryPosition & Pick<JournalEntry, "events">;

/**
 * Stores entries: the part of the journal that differs between MongoDB and memory. Each method may fail like
 * the driver: an insert that failed may have stored all, some or none of its entries.
 */
export interface EntryLog {
  /**
   * Stores each entry whose position is free. Durable when it resolves.
   * @param following - writes that follow from a single entry, in the same command behind it; none of them is
   *   done when another entry has the position. Each changes nothing when it is repeated, or done after writes
   *   of later entries. Default: none
   * @returns for each position that is taken, by entry id, the entry that is stored there
   */
  insert(
    entries: readonly JournalEntry[],
    following?: readonly HeadWrite[],
  ): Promise<ReadonlyMap<string, JournalEntry>>;
  /** Entries after a seq, in their order, at most `limit`. */
  read(requestId: string, afterSeq: number, limit: number): Promise<JournalEntry[]>;
  /**
   * All entries after these positions, one request after the other, in their order. They are without outputs,
   * arguments and data of errors, which may be large; their sizes are there. A long journal is read in several
   * turns of the event loop; a reader that works on each entry as it comes blocks the process only briefly.
   */
  readTails(after: readonly EntryPosition[]): AsyncIterable<JournalEntry>;
  /** The events of some units at these positions; the entries in any order, without empty ones. */
  readAt(positions: readonly EntryPosition[], selection: UnitSelection): Promise<SelectedEvents[]>;
}

/**
 * Events that are read in one turn of the event loop, by all readers of {@link EntryLog.readTails} together.
 * With the work of a reader that folds them they take a few milliseconds, ten times that in a new process.
 */
const EVENTS_PER_TURN = 250;
/** Entries in one answer of MongoDB to {@link EntryLog.readTails}: the driver takes an answer in one turn. */
const ENTRIES_PER_BATCH = 50;

/** The projection of {@link EntryLog.readTails}. */
export const WITHOUT_VALUES: Document = {
  "events.output": 0,
  "events.outputText": 0,
  "events.arguments.value": 0,
  "events.arguments.preview": 0,
  "events.toApprove.arguments.value": 0,
  "events.toApprove.arguments.preview": 0,
  "events.error.data": 0,
  "events.outputs": 0,
};

const OUTPUT_FIELDS = ["events.output", "events.outputText"];
const BODY_FIELDS = ["events.arguments", "events.toApprove", "events.error.data"];

/**
 * Stages that reduce entries to the selection of {@link EntryLog.readAt}, one document for each event. As a
 * filter, unlike as an expression, `$in` does not compare each event with all keys.
 */
function selectUnits({ keys, body, output }: UnitSelection): Document[] {
  const fields = [...(output ? [] : OUTPUT_FIELDS), ...(body ? [] : BODY_FIELDS)];
  const wanted = { $in: [...keys] };
  return [
    { $project: { requestId: 1, seq: 1, events: 1 } },
    ...(fields.length > 0 ? [{ $unset: fields }] : []),
    { $unwind: "$events" },
    { $match: { $or: [{ "events.key": wanted }, { "events.units": wanted }] } },
  ];
}

/** The id of the entry at a position. */
export function entryIdOf({ requestId, seq }: EntryPosition): string {
  return `${requestId}/${String(seq).padStart(SEQ_DIGITS, "0")}`;
}

/** An entry as it is stored. */
export function toJournalDocument(entry: JournalEntry): JournalDocument {
  return { _id: entryIdOf(entry), ...entry };
}

/**
 * Entries in MongoDB.
 * @param collections - of a client with majority and journalled writes that does not repeat writes by itself
 */
export function createMongoEntryLog(collections: Collections): EntryLog {
  const { journal: collection } = collections;
  let eventsOfTurn = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /**
   * Lets the process do other work between parts of long journals. Readers take turns one after the other:
   * many that read at the same time block no longer than one.
   */
  async function takeTurn(events: number): Promise<void> {
    eventsOfTurn += events;
    if (eventsOfTurn < EVENTS_PER_TURN) return;
    eventsOfTurn = 0;
    turn = turn.then(() => setImmediate());
    await turn;
  }

  /** @returns the ids that may have been taken; all of them when writes follow */
  async function send(documents: JournalDocument[], following: readonly HeadWrite[]): Promise<string[]> {
    if (following.length > 0) {
      const inserts = documents.map((insert) => ({ collection: "journal" as const, insert }));
      const isDone = await sendTogether(collections, [...inserts, ...following], { ordered: true });
      return isDone ? [] : documents.map(({ _id }) => _id);
    }
    const [only] = documents;
    try {
      // A single insert costs the driver less than a bulk of one.
      if (only && documents.length === 1) await collection.insertOne(only);
      else await collection.insertMany(documents, { ordered: false });
      return [];
    } catch (error) {
      return takenIds(error, documents);
    }
  }

  return {
    async insert(entries, following = []) {
      const documents = entries.map(toJournalDocument);
      const ids = await send(documents, following);
      if (ids.length === 0) return new Map();
      const taken = await collection.find({ _id: { $in: ids } }).toArray();
      const isRead = new Set(taken.map(({ _id }) => _id));
      const unread = ids.filter((id) => !isRead.has(id));
      if (unread.length > 0) throw notCommittedYet(unread);
      const isOwn = ({ _id, writeId }: JournalDocument): boolean =>
        documents.some((own) => own._id === _id && own.writeId === writeId);
      // It was stored by an earlier try, which may have been interrupted behind it.
      if (following.length > 0 && taken.some(isOwn)) await followOneByOne(collections, following);
      return new Map(taken.map((document) => [document._id, toEntry(document)]));
    },
    async read(requestId, afterSeq, limit) {
      const found = await collection
        .find({ _id: idsAfter({ requestId, seq: afterSeq }) })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(toEntry);
    },
    async *readTails(positions) {
      if (positions.length === 0) return;
      const ranges = positions.map((position) => ({ _id: idsAfter(position) }));
      const [only] = ranges;
      const found = collection
        .find(only && ranges.length === 1 ? only : { $or: ranges }, {
          projection: WITHOUT_VALUES,
          batchSize: ENTRIES_PER_BATCH,
        })
        .sort({ _id: 1 });
      for await (const document of found) {
        yield toEntry(document);
        await takeTurn(document.events.length);
      }
    },
    async readAt(positions, selection) {
      if (positions.length === 0) return [];
      const match = { $match: { _id: { $in: positions.map(entryIdOf) } } };
      const found = collection.aggregate<EntryPosition & { _id: string; events: JournalEvent }>(
        [match, ...selectUnits(selection)],
        { batchSize: 1_000 },
      );
      const selected = new Map<string, SelectedEvents>();
      for await (const { _id, requestId, seq, events: event } of found) {
        const entry = selected.get(_id);
        if (entry) entry.events.push(event);
        else selected.set(_id, { requestId, seq, events: [event] });
      }
      return [...selected.values()];
    },
  };
}

/** The range of ids of the entries of a request after a seq. */
export function idsAfter(position: EntryPosition): { $gt: string; $lt: string } {
  return { $gt: entryIdOf(position), $lt: `${position.requestId}/:` };
}

function toEntry({ _id, ...entry }: JournalDocument): JournalEntry {
  return entry;
}

/** The ids that were taken. @throws the error when it has another cause too */
function takenIds(error: unknown, documents: readonly JournalDocument[]): string[] {
  const [only] = documents;
  if (only && documents.length === 1 && isDuplicateKey(error)) return [only._id];
  if (!(error instanceof MongoBulkWriteError) || error.errorResponse?.["writeConcernError"]) throw error;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || !errors.every((one) => isDuplicateKey(one))) throw error;
  return errors.flatMap(({ index }) => documents[index]?._id ?? []);
}

/** An entry without outputs, arguments and data of errors; their sizes are kept. Pure. */
export function withoutEventValues(entry: JournalEntry): JournalEntry {
  return { ...entry, events: entry.events.map(withoutValue) };
}

function withoutValue(event: JournalEvent): JournalEvent {
  switch (event.type) {
    case "attempt.started":
      return { ...event, arguments: sizeOnly(event.arguments) };
    case "attempt.ended":
      return event.error?.data === undefined ? event : { ...event, error: withoutData(event.error) };
    case "step.changed": {
      const { output: _, outputText: __, error, toApprove, ...kept } = event;
      return {
        ...kept,
        ...(error && { error: withoutData(error) }),
        ...(toApprove && { toApprove: { ...toApprove, arguments: sizeOnly(toApprove.arguments) } }),
      };
    }
    case "plan.ended":
      return { ...event, outputs: null, error: event.error && withoutData(event.error) };
    default:
      return event;
  }
}

function sizeOnly({ sizeBytes }: { sizeBytes: number }): { sizeBytes: number } {
  return { sizeBytes };
}

function withoutData<WithData extends { data?: unknown }>(error: WithData): Omit<WithData, "data"> {
  const { data: _, ...kept } = error;
  return kept;
}
