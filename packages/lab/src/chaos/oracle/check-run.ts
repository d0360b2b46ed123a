import type { Evidence, Violation, ViolationKind } from "../evidence/evidence.ts";
import { checkEffects } from "./check-effects.ts";
import { checkEndings } from "./check-endings.ts";
import { checkHistory } from "./check-history.ts";
import { checkJournal } from "./check-journal.ts";
import { checkLists } from "./check-lists.ts";
import { checkReruns } from "./check-reruns.ts";

/** The verdict about a run. */
export interface Verdict {
  violations: Violation[];
  /** Number of documents with a violation, by kind. */
  counts: { [kind in ViolationKind]: number };
  replays: number;
  inDoubt: number;
  /** True when there is no violation of any kind. */
  passed: boolean;
}

/** Judges a run by its evidence. Pure. */
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
