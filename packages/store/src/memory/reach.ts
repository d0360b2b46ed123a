import type { JournalEntry } from "@planwright/engine";
import type { GroupSet, GroupUpdate } from "../journal/group-commit.ts";

/** A write for the group commit. */
export type GroupedWrite = GroupSet | GroupUpdate;

/** One atomic operation on the database. */
export interface ReachOperation<T> {
  /** Name of the operation, such as "plans.updateOne": for logs. */
  name: string;
  /** For a grouped write: the write as the store made it. */
  write?: GroupedWrite | undefined;
  /** For a write to journals: the entries as the store made them. */
  entries?: readonly JournalEntry[] | undefined;
  apply: () => T | Promise<T>;
}

/**
 * The connection of one process to the database. It applies the operation, now or later, and resolves. It
 * rejects with {@link UnreachableError} when no answer comes, whether or not the operation was applied.
 */
export type Reach = <T>(operation: ReachOperation<T>) => Promise<T>;

/** A connection that loses nothing and takes no time. */
export const reachAtOnce: Reach = async ({ apply }) => apply();

/**
 * The database did not answer. It has the name of the driver's error, so that the store handles it as one.
 */
export class UnreachableError extends TypeError {
  override readonly name = "MongoNetworkError";
}
