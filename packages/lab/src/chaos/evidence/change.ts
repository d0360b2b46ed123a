/**
 * What one event of the change stream says, as far as it matters here: what it did to a document, or an entry of a journal to a step. Order of the
 * list is the order of the writes.
 */
export interface Change {
  /** Unix milliseconds, by MongoDB. */
  at: number;
  collection: "requests" | "plans" | "steps";
  id: string;
  type: "insert" | "update" | "delete" | "invalid";
  /** Names of the changed fields, dotted; all fields for an insert. */
  fields: readonly string[];
  /** Present when it was written. */
  status?: string | undefined;
  /** `epoch` of a plan or step; present when it was written. */
  epoch?: number | undefined;
  /** Of a plan: who took the lease; present when the lease was given to a worker. */
  owner?: string | undefined;
  /** Of a step: the worker whose entry says so; absent for what an operator or another version says. */
  writer?: string | undefined;
  /** Of a step: true when it came from an earlier version of the plan, as it was. */
  isCarried?: boolean | undefined;
  /** Why an entry of a journal cannot follow from those before it. */
  reason?: string | undefined;
}
