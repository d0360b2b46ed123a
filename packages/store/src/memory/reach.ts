import type { JournalEntry } from "@planwright/engine";
import type { GroupSet, GroupUpdate } from "../commit/group-commit.ts";

/** A write as it is given to the group commit. */
export type GroupedWrite = GroupSet | GroupUpdate;

/** One operation on the database: as a whole, at one instant. */
export interface ReachOperation<T> {
  /** What it is, such as "plans.updateOne": for logs. */
  name: string;
  /** What the store meant to write, for a grouped write. */
  write?: GroupedWrite | undefined;
  /** The entries that the store meant to append, for a write to journals. */
  entries?: readonly JournalEntry[] | undefined;
  apply: () => T | Promise<T>;
}

/**
 * The way of one process to the database. It applies the operation, now or later, and answers; it rejects
 * with {@link UnreachableError} when no answer comes, whether or not the operation was applied.
 */
export type Reach = <T>(operation: ReachOperation<T>) => Promise<T>;

/** The way that loses nothing and takes no time. */
export const reachAtOnce: Reach = async ({ apply }) => apply();

/**
 * The database did not answer. Called as the driver calls such errors, so that the store takes it for one.
 */
export class UnreachableError extends TypeError {
  override readonly name = "MongoNetworkError";
}
