import type { Tone } from "../../design/statuses.ts";
import type { Change } from "./diff.ts";

/** How a change looks. Colour is never the only sign: each change has a sign, a word and a border. */
export const CHANGE_LOOK: Record<Change, { sign: string; word: string; tone: Tone }> = {
  added: { sign: "+", word: "added", tone: "good" },
  removed: { sign: "−", word: "removed", tone: "bad" },
  changed: { sign: "≠", word: "changed", tone: "attention" },
  carried: { sign: "=", word: "carried over", tone: "quiet" },
  same: { sign: "↻", word: "the same, executed again", tone: "active" },
};

/** The order in which changes are listed. */
export const CHANGES: readonly Change[] = ["added", "removed", "changed", "same", "carried"];
