import type { Evidence, Violation, ViolationKind } from "../evidence/evidence.ts";
import { checkEffects } from "./check-effects.ts";
import { checkEndings } from "./check-endings.ts";
import { checkHistory } from "./check-history.ts";
import { checkJournal } from "./check-journal.ts";
import { checkLists } from "./check-lists.ts";
import { checkReruns } from "./check-reruns.ts";

/** What a run comes to. */
export interface Verdict {
  violations: Violation[];
  /** Documents concerned, by kind. */
  counts: { [kind in ViolationKind]: number };
  replays: number;
  inDoubt: number;
  /** True when nothing was lost, duplicated, left unfinished, taken back, written by a stale executor, told of a list that was not so, or told unlike the journal. */
  passed: boolean;
}

/** Judges a run by what is left of it: documents, every write, effects, and what clients saw. Pure. */
export function checkRun(evidence: Evidence): Verdict {
  const { violations: ofEffects, replays, inDoubt } = checkEffects(evidence);
  const violations = [
    ...checkEndings(evidence),
    ...ofEffects,
    ...checkLists(evidence),
    ...checkReruns(evidence),
    ...checkHistory(evidence),
    ...checkJournal(evidence),
    ...evidence.seen,
  ];
  const count = (kind: ViolationKind): number =>
    new Set(violations.filter((violation) => violation.kind === kind).map(({ id }) => id)).size;
  return {
    violations,
    counts: {
      lost: count("lost"),
      duplicated: count("duplicated"),
      unfinished: count("unfinished"),
      regressions: count("regressions"),
      staleWrites: count("staleWrites"),
      lists: count("lists"),
      unlikeJournal: count("unlikeJournal"),
    },
    replays,
    inDoubt,
    passed: violations.length === 0,
  };
}
