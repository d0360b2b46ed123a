import type { JournalEntry, JournalEvent } from "@planwright/engine";
import type { Collections } from "../database/collections.ts";
import { type EntryLog, entryIdOf, toJournalDocument } from "../journal/entry-log.ts";
import { followOneByOne, type HeadWrite } from "../journal/pending-write.ts";
import { withoutEventValues } from "../journal/without-values.ts";
import { createMemoryCollections } from "./memory-collections.ts";
import type { MemoryDatabase, StoredDocument } from "./memory-database.ts";
import { type Reach, reachAtOnce } from "./reach.ts";

const COLLECTION = "journal";

/**
 * Entries in a database in memory, over the connection of one process. Entries are copied when they are
 * stored and read. Writes that follow from an entry are sent one by one, so that a process may die in between. With
 * MongoDB this needs the death of the server too.
 */
export function createMemoryEntryLog(
  database: MemoryDatabase,
  reach: Reach = reachAtOnce,
  collections: Pick<Collections, HeadWrite["collection"]> = createMemoryCollections(database, reach),
): EntryLog {
  function insert(given: readonly JournalEntry[]): ReadonlyMap<string, JournalEntry> {
    const taken = new Map<string, JournalEntry>();
    for (const entry of given) {
      const found = entryAt(entryIdOf(entry));
      if (found) taken.set(entryIdOf(entry), found);
      else database.insert(COLLECTION, structuredClone(toJournalDocument(entry)));
    }
    return taken;
  }

  function entryAt(id: string): JournalEntry | undefined {
    const [found] = database.find(COLLECTION, { _id: id });
    return found && toEntry(found);
  }

  function read(requestId: string, afterSeq: number, limit = Number.POSITIVE_INFINITY): JournalEntry[] {
    const found: JournalEntry[] = [];
    for (let seq = afterSeq + 1; found.length < limit; seq++) {
      const entry = entryAt(entryIdOf({ requestId, seq }));
      if (!entry) break;
      found.push(entry);
    }
    return found;
  }

  return {
    async insert(given, following = []) {
      const taken = await reach({ name: "journal.insert", entries: given, apply: () => insert(given) });
      const isOwn = (entry: JournalEntry): boolean =>
        (taken.get(entryIdOf(entry)) ?? entry).writeId === entry.writeId;
      if (given.every(isOwn)) await followOneByOne(collections, following);
      return taken;
    },
    read: (requestId, afterSeq, limit) =>
      reach({ name: "journal.read", apply: () => read(requestId, afterSeq, limit) }),
    async *readTails(positions) {
      const apply = () =>
        positions.flatMap(({ requestId, seq }) => read(requestId, seq)).map(withoutEventValues);
      yield* await reach({ name: "journal.readTails", apply });
    },
    readAt: (positions, { keys }) => {
      const wanted = new Set(keys);
      const apply = () =>
        positions
          .flatMap((position) => entryAt(entryIdOf(position)) ?? [])
          .map((entry) => withEventsOf(entry, wanted))
          .filter(({ events }) => events.length > 0);
      return reach({ name: "journal.readAt", apply });
    },
  };
}

/** The entry with the events of these units. Unwanted values are not removed here. */
function withEventsOf(entry: JournalEntry, wanted: ReadonlySet<string>): JournalEntry {
  const isWanted = (event: JournalEvent): boolean =>
    ("key" in event && wanted.has(event.key)) ||
    ("units" in event && event.units.some((key) => wanted.has(key)));
  return { ...entry, events: entry.events.filter(isWanted) };
}

function toEntry({ _id, ...entry }: StoredDocument): JournalEntry {
  // Only entries are written into this collection.
  return structuredClone(entry) as JournalEntry;
}
