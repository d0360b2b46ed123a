import type { Tone } from "../../design/statuses.ts";
import type { Change } from "./diff.ts";

/** How a change looks: a sign, a word, a border, and last a colour. */
export const CHANGE_LOOK: Record<Change, { sign: string; word: string; tone: Tone }> = {
  added: { sign: "+", word: "added", tone: "good" },
  removed: { sign: "−", word: "removed", tone: "bad" },
  changed: { sign: "≠", word: "changed", tone: "attention" },
  carried: { sign: "=", word: "carried over", tone: "quiet" },
  same: { sign: "↻", word: "the same, executed anew", tone: "active" },
};

/** The order in which changes are told. */
export const CHANGES: readonly Change[] = ["added", "removed", "changed", "same", "carried"];
