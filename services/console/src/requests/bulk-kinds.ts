/** The actions on many requests at once. */
export type BulkKind = "cancel" | "retry" | "rerun";

/** The texts of a bulk action. */
interface BulkWords {
  title: string;
  /** Completes the preview: "3 requests would be …". */
  noun: string;
  button: string;
  /** Completes the result: "3 requests …". */
  done: string;
}

export const BULK: Record<BulkKind, BulkWords> = {
  retry: {
    title: "Run again what did not complete",
    noun: "run again: completed steps are carried over",
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
