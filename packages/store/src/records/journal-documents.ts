import type { JournalEntry } from "@planwright/engine";

/** An entry as it is stored. Its id contains its seq, so each seq can be taken once. */
export interface JournalDocument extends JournalEntry {
  /** `{requestId}/{seq}` */
  _id: string;
}
