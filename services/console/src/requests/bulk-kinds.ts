/** What can be done with many requests at once. */
export type BulkKind = "cancel" | "retry" | "rerun";

/** How a bulk action is called. */
interface BulkWords {
  title: string;
  /** What would happen: "3 requests would be …". */
  noun: string;
  button: string;
  /** What happened: "3 requests …". */
  done: string;
}

export const BULK: Record<BulkKind, BulkWords> = {
  retry: {
    title: "Run again what did not complete",
    noun: "run again: what completed is carried over",
    button: "Run again",
    done: "run again",
  },
  cancel: { title: "Cancel", noun: "cancelled", button: "Cancel", done: "cancelled" },
  rerun: {
    title: "Run ended requests again",
    noun: "run again as a new version",
    button: "Run again",
    done: "run again",
  },
};
