import type { JournalEntry } from "@planwright/engine";
import { type Collection, type Document, MongoBulkWriteError } from "mongodb";
import { isDuplicateKey } from "../database/transient-errors.ts";
import type { JournalDocument } from "../records/journal-documents.ts";

/** Digits of a place in a journal: places sort as texts. */
const SEQ_DIGITS = 8;

/** A place in a request's journal. */
export type JournalPlace = Pick<JournalEntry, "requestId" | "seq">;

/** What is read of entries: a process holds no more of them than the caller asked for. */
export interface ToldOfUnits {
  /** Keys of the units. */
  keys: readonly string[];
  /** With arguments, and what tools added to errors. */
  body: boolean;
  /** With outputs. */
  output: boolean;
}

/**
 * Where entries are kept: the one part of the journal that differs between MongoDB and memory. Each verb may
 * fail as a driver does: an insert that failed may have been done, as a whole or in part.
 */
export interface EntryLog {
  /**
   * Keeps each entry whose place is free; durable when it answers.
   * @returns the entries that stand where others of these were to go, by the place's name
   */
  insert(entries: readonly JournalEntry[]): Promise<ReadonlyMap<string, JournalEntry>>;
  /** Entries behind a place, in their order, at most so many. */
  read(requestId: string, afterSeq: number, limit: number): Promise<JournalEntry[]>;
  /**
   * All entries behind these places, those of one request after the other, in their order, without what may
   * be large: outputs, arguments, data of errors. Their sizes are there.
   */
  readTails(behind: readonly JournalPlace[]): AsyncIterable<JournalEntry>;
  /**
   * Of the entries at these places what they tell of some units, in any order; those that are not there are
   * left out.
   */
  readAt(places: readonly JournalPlace[], told: ToldOfUnits): Promise<JournalEntry[]>;
}

/** What {@link EntryLog.readTails} leaves out. */
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

/** Stages that leave of entries what {@link EntryLog.readAt} reads. */
function toldOfUnits({ keys, body, output }: ToldOfUnits): Document[] {
  const wanted = { $literal: [...keys] };
  // Not a $setIntersection: it would make a set of all wanted keys again for each event.
  const units = { $ifNull: ["$$this.units", []] };
  const served = { $map: { input: units, as: "unit", in: { $in: ["$$unit", wanted] } } };
  const isWanted = { $or: [{ $in: ["$$this.key", wanted] }, { $anyElementTrue: [served] }] };
  const fields = [...(output ? [] : OUTPUT_FIELDS), ...(body ? [] : BODY_FIELDS)];
  return [
    { $set: { events: { $filter: { input: "$events", cond: isWanted } } } },
    ...(fields.length > 0 ? [{ $unset: fields }] : []),
  ];
}

/** Name of a place in a request's journal. */
export function placeOf({ requestId, seq }: JournalPlace): string {
  return `${requestId}/${String(seq).padStart(SEQ_DIGITS, "0")}`;
}

/** An entry as it is stored. */
export function toJournalDocument(entry: JournalEntry): JournalDocument {
  return { _id: placeOf(entry), ...entry };
}

/**
 * Entries in MongoDB.
 * @param collection - of a client with majority and journalled writes, that repeats no write by itself
 */
export function createMongoEntryLog(collection: Collection<JournalDocument>): EntryLog {
  async function entriesAt(places: readonly string[]): Promise<JournalDocument[]> {
    return places.length === 0 ? [] : collection.find({ _id: { $in: [...places] } }).toArray();
  }

  return {
    async insert(entries) {
      const documents = entries.map(toJournalDocument);
      try {
        await collection.insertMany(documents, { ordered: false });
        return new Map();
      } catch (error) {
        const places = refusedPlaces(error, documents);
        if (!places) throw error;
        const taken = await entriesAt(places);
        return new Map(taken.map((document) => [document._id, toEntry(document)]));
      }
    },
    async read(requestId, afterSeq, limit) {
      const found = await collection
        .find({ _id: behind({ requestId, seq: afterSeq }) })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(toEntry);
    },
    async *readTails(places) {
      if (places.length === 0) return;
      const ranges = places.map((place) => ({ _id: behind(place) }));
      const [only] = ranges;
      const found = collection
        .find(only && ranges.length === 1 ? only : { $or: ranges }, {
          projection: WITHOUT_VALUES,
          batchSize: 1_000,
        })
        .sort({ _id: 1 });
      for await (const document of found) yield toEntry(document);
    },
    async readAt(places, told) {
      if (places.length === 0) return [];
      const match = { $match: { _id: { $in: places.map(placeOf) } } };
      const found = await collection
        .aggregate<JournalDocument>([match, ...toldOfUnits(told)], { batchSize: 1_000 })
        .toArray();
      return found.map(toEntry);
    },
  };
}

/** The entries of a request behind a place, by the names of their places. */
export function behind(place: JournalPlace): { $gt: string; $lt: string } {
  return { $gt: placeOf(place), $lt: `${place.requestId}/:` };
}

/** What was stored. */
export function toEntry({ _id, ...entry }: JournalDocument): JournalEntry {
  return entry;
}

/** The places that were taken, when that is all that went wrong. */
function refusedPlaces(error: unknown, documents: readonly JournalDocument[]): string[] | undefined {
  if (!(error instanceof MongoBulkWriteError) || error.errorResponse?.["writeConcernError"]) return undefined;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || !errors.every((one) => isDuplicateKey(one))) return undefined;
  return errors.flatMap(({ index }) => documents[index]?._id ?? []);
}
