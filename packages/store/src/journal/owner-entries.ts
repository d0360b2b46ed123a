/**
 * Entries of the owner of work, an executor or a planner: the hot way to write (docs/architecture.md, R3).
 *
 * 1. An entry is appended behind the entries of other writers: it is decided again when another one was appended
 *    first (J1).
 * 2. An entry that cannot follow from the entries before it is not written: the journal could not be folded any
 *    more.
 * 3. The documents follow in the same command or after it (J4). After a crash the next owner does these writes
 *    again, or the work. What it could not do again, the document of a new version, is stored in one transaction
 *    with its entry.
 */
import { advance, type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import type { Journal, NewEntry } from "./journal.ts";
import type { HeadWrite } from "./pending-write.ts";
import type { Transact } from "./transact.ts";
import { withoutEventValues } from "./without-values.ts";

/** The writes that follow from an entry, computed from it and the request after it. */
export type FollowingOf = (entry: JournalEntry, after: FoldedRequest) => readonly HeadWrite[];

/** The next entry of an owner. */
export interface OwnerEntry extends Omit<NewEntry, "requestId" | "tenant" | "seq"> {
  following?: FollowingOf | undefined;
  /** Does it in one transaction, as one who does not own the request. Default: the hot way. */
  transact?: Transact | undefined;
}

/** The journal of a request, as one owner writes it. */
export interface OwnerEntries {
  journal: Journal;
  requestId: string;
  tenant: string;
  /** The state after the last known entry; it is changed. */
  state: FoldedRequest;
  /** @throws {JournalInvalidError} for an entry that cannot follow */
  requireValid: (entry: NewEntry) => void;
  /** The error when the request's document does not allow the entry any more. */
  lost: () => Error;
}

/**
 * Appends an entry, and waits for the writes that follow. Durable when it returns.
 * @param decide - the entry after all entries before it; undefined: none is appended
 * @returns whether it was appended
 */
export async function appendAsOwner(
  { journal, requestId, tenant, state, requireValid, lost }: OwnerEntries,
  decide: () => OwnerEntry | undefined,
): Promise<boolean> {
  for (;;) {
    const decided = decide();
    if (!decided) return false;
    const { following, transact, ...content } = decided;
    const entry: NewEntry = { requestId, tenant, ...content, seq: state.seq + 1 };
    requireValid(entry);
    const followingOf =
      following &&
      ((stamped: JournalEntry) => following(stamped, fold(state, [withoutEventValues(stamped)])));
    const result = await (transact
      ? transact({ entry, following: followingOf ?? (() => []) })
      : journal.append(entry, followingOf));
    if (result.type === "appended") {
      advance(state, [withoutEventValues(result.entry)]);
      return true;
    }
    const others = await journal.read(requestId, state.seq);
    // Its document has changed without an entry, or is not there any more.
    if (transact && others.length === 0) throw lost();
    advance(state, others.map(withoutEventValues));
  }
}
