import type { JournalEntry } from "@planwright/engine";
import { type Document, MongoClientBulkWriteError } from "mongodb";
import type { Collections } from "../collections.ts";
import type { PlanDocument } from "../documents.ts";
import { type JournalDocument, placeOf, toEntry, toJournalDocument } from "../journal/entry-log.ts";
import { isDuplicateKey } from "../transient-errors.ts";

/** A control: an entry that needs no lease, and what follows from it for the document of its plan. */
export interface Control {
  entry: JournalEntry;
  /** Expressions by field, with the entry's place as `controlSeq`. */
  head: Document;
}

/**
 * Where controls go: the part of them that differs between MongoDB and memory. An append that failed may have been done, as a whole or,
 * where MongoDB died, without the document.
 */
export interface ControlLog {
  /**
   * Appends the entry where its place is free, and then changes the document, unless a later control has or the plan has ended. Durable when it
   * answers. Done again it changes nothing. Returns the entry that stands there instead.
   */
  append(control: Control): Promise<JournalEntry | undefined>;
}

/** The document as long as this control is the latest that it knows. */
export function beforeControl({ entry }: Control): Document {
  return { _id: entry.planId, controlSeq: { $lt: entry.seq }, finishedAt: null };
}

type Schemas = Record<string, JournalDocument | PlanDocument>;

/** Controls in MongoDB. @param collections - of a client with majority and journalled writes, that repeats no write by itself */
export function createMongoControlLog({
  client,
  journal,
  plans,
}: Pick<Collections, "client" | "journal" | "plans">): ControlLog {
  return {
    async append(control) {
      const { entry, head } = control;
      const filter = beforeControl(control);
      const update = [{ $set: head }];
      try {
        // In one command: a process that dies leaves both, or none.
        await client.bulkWrite<Schemas>(
          [
            { name: "insertOne", namespace: journal.namespace, document: toJournalDocument(entry) },
            { name: "updateOne", namespace: plans.namespace, filter, update },
          ],
          { ordered: true },
        );
        return undefined;
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
      const found = await journal.findOne({ _id: placeOf(entry) });
      if (!found || found.writeId !== entry.writeId) return found ? toEntry(found) : entry;
      await plans.updateOne(filter, update);
      return undefined;
    },
  };
}

/** True when all that went wrong is that the place was taken. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof MongoClientBulkWriteError) || error.writeConcernErrors.length > 0) return false;
  const errors = [...error.writeErrors.values()];
  return errors.length > 0 && errors.every((one) => isDuplicateKey(one));
}
