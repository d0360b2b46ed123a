/**
 * One event of the change stream, reduced to what the oracle needs: the change of a document, or of a step by
 * a journal entry. Lists of changes are in the order of the writes.
 */
export interface Change {
  /** When MongoDB made the write, in Unix milliseconds. */
  at: number;
  collection: "requests" | "plans" | "steps";
  id: string;
  type: "insert" | "update" | "delete" | "invalid";
  /** Names of the changed fields, dotted; all fields for an insert. */
  fields: readonly string[];
  /** Present when the write changed it. */
  status?: string | undefined;
  /** `epoch` of a plan or step; present when the write changed it. */
  epoch?: number | undefined;
  /** Of a plan: the new owner of its lease; present when a worker took the lease. */
  owner?: string | undefined;
  /** Of a step: the worker that wrote the entry; absent for changes by an operator or another version. */
  writer?: string | undefined;
  /** Of a step: true when it was carried over from an earlier version of the plan. */
  isCarried?: boolean | undefined;
  /** Why a journal entry does not fit the entries before it. */
  reason?: string | undefined;
}
