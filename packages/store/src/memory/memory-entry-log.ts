import type { JournalEntry, JournalEvent } from "@planwright/engine";
import { type EntryLog, placeOf, toJournalDocument } from "../journal/entry-log.ts";
import { withoutEventValues } from "../journal/without-values.ts";
import type { MemoryDatabase, StoredDocument } from "./memory-database.ts";
import { type Reach, reachAtOnce } from "./reach.ts";

const COLLECTION = "journal";

/**
 * Entries in a database in memory, as one process reaches it. What is stored is never the object that a
 * caller holds.
 */
export function createMemoryEntryLog(database: MemoryDatabase, reach: Reach = reachAtOnce): EntryLog {
  function insert(given: readonly JournalEntry[]): ReadonlyMap<string, JournalEntry> {
    const taken = new Map<string, JournalEntry>();
    for (const entry of given) {
      const found = entryAt(placeOf(entry));
      if (found) taken.set(placeOf(entry), found);
      else database.insert(COLLECTION, structuredClone(toJournalDocument(entry)));
    }
    return taken;
  }

  function entryAt(place: string): JournalEntry | undefined {
    const [found] = database.find(COLLECTION, { _id: place });
    return found && toEntry(found);
  }

  function read(requestId: string, afterSeq: number, limit = Number.POSITIVE_INFINITY): JournalEntry[] {
    const found: JournalEntry[] = [];
    for (let seq = afterSeq + 1; found.length < limit; seq++) {
      const entry = entryAt(placeOf({ requestId, seq }));
      if (!entry) break;
      found.push(entry);
    }
    return found;
  }

  return {
    insert: (given) => reach({ name: "journal.insert", entries: given, apply: () => insert(given) }),
    read: (requestId, afterSeq, limit) =>
      reach({ name: "journal.read", apply: () => read(requestId, afterSeq, limit) }),
    async *readTails(places) {
      const apply = () =>
        places.flatMap(({ requestId, seq }) => read(requestId, seq)).map(withoutEventValues);
      yield* await reach({ name: "journal.readTails", apply });
    },
    readAt: (places, { keys }) =>
      reach({
        name: "journal.readAt",
        apply: () =>
          places.flatMap((place) => entryAt(placeOf(place)) ?? []).map((entry) => about(entry, keys)),
      }),
  };
}

/** Values that are not wanted stay: as in all of its reads. */
function about(entry: JournalEntry, keys: readonly string[]): JournalEntry {
  const wanted = new Set(keys);
  const isWanted = (event: JournalEvent): boolean =>
    ("key" in event && wanted.has(event.key)) ||
    ("units" in event && event.units.some((key) => wanted.has(key)));
  return { ...entry, events: entry.events.filter(isWanted) };
}

function toEntry({ _id, ...entry }: StoredDocument): JournalEntry {
  // The log writes entries alone into this collection.
  return structuredClone(entry) as JournalEntry;
}
