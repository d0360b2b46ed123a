/** What one event of the change stream says, as far as it matters here. Order of the list is the order of the writes. */
export interface Change {
  /** Unix milliseconds, by MongoDB. */
  at: number;
  collection: "requests" | "plans" | "steps";
  id: string;
  type: "insert" | "update" | "delete";
  /** Names of the changed fields, dotted; all fields for an insert. */
  fields: readonly string[];
  /** Present when it was written. */
  status?: string | undefined;
  /** `epoch` of a plan or step; present when it was written. */
  epoch?: number | undefined;
  /** Of a plan: who took the lease; present when the lease was given to a worker. */
  owner?: string | undefined;
  /** Of a step: the process and number of the write. */
  writeId?: string | undefined;
  /** Of a step: true when it came from an earlier version of the plan, as it was. */
  isCarried?: boolean | undefined;
  /** Of a step: executor of an attempt that was added. */
  executor?: string | undefined;
}

/** The process part of a writeId, which is `{process}:{number}`. */
export function writerOf(writeId: string): string {
  return writeId.slice(0, writeId.lastIndexOf(":"));
}
