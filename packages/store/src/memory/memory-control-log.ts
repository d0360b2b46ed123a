import { beforeControl, type ControlLog } from "../controls/control-log.ts";
import { placeOf, toEntry, toJournalDocument } from "../journal/entry-log.ts";
import type { MemoryDatabase } from "./memory-database.ts";
import type { Reach } from "./reach.ts";

/** Controls in a database in memory, as one process reaches it: entry and document change at one instant. */
export function createMemoryControlLog(database: MemoryDatabase, reach: Reach): ControlLog {
  return {
    append: (control) =>
      reach({
        name: "journal.control",
        entries: [control.entry],
        apply: () => {
          const { entry, head } = control;
          const [found] = database.find("journal", { _id: placeOf(entry) });
          // The log of controls and that of entries write alone into this collection.
          if (found && found["writeId"] !== entry.writeId) return toEntry(structuredClone(found) as never);
          if (!found) database.insert("journal", structuredClone(toJournalDocument(entry)));
          database.update("plans", beforeControl(control), { set: head, isPipeline: true });
          return undefined;
        },
      }),
  };
}
