import type { JournalEntry } from "@planwright/engine";
import type { Binary } from "mongodb";

/** An entry as it is stored. Its id contains its seq, so each seq can be taken once. */
export interface JournalDocument extends JournalEntry {
  /** `{requestId}/{seq}` */
  _id: string;
}

/**
 * The writes that follow from an entry and cannot be derived from it, until they are done. The collection is
 * mostly empty. `_id` is the entry's `writeId`.
 */
export interface OutboxDocument {
  _id: string;
  requestId: string;
  /** The writes as BSON, `{following: [..]}`: see `FollowingWrite`. */
  writes: Uint8Array | Binary;
  createdAt: Date;
}
