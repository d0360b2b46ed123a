/**
 * Compares the controls that clients sent with the journal. See {@link
 * import("./check-journal.ts").checkJournal}, rule 5.
 */

import { groupBy } from "@planwright/plan";
import type { AskedControl, AskedVersion } from "../evidence/evidence.ts";
import type { JournalFacts } from "./check-readings.ts";
import type { RecordedControl, ReplayedPlan } from "./replayed-request.ts";

type Report = (id: string, expected: string, found: string) => void;

/** Checks the controls of one request. Pure. */
export function checkControls(
  { requestId, replayed }: JournalFacts,
  asked: readonly AskedControl[],
  versions: readonly AskedVersion[],
  report: Report,
): void {
  for (const plan of replayed.values()) checkRecorded(plan, asked, report);
  for (const ask of asked) {
    const { planId, type, by, subject } = ask;
    if (planId === null) continue;
    const plan = replayed.get(planId);
    const recorded = (plan?.controls ?? []).filter((control) => isOf(ask, control));
    if (recorded.length !== 1)
      report(
        requestId,
        `${type} of ${planId}, ${subject}, by ${by} once, as a client was answered`,
        `${recorded.length} of them`,
      );
  }
  for (const { requestId: of, storedAs } of versions) {
    if (of !== requestId || storedAs === null || (replayed.get(storedAs)?.storedSeq ?? 0) > 0) continue;
    report(requestId, `an entry that stored ${storedAs}, as a client was answered`, "none");
  }
}

/** Each control in the journal appears once and was sent by its client. */
function checkRecorded({ controls }: ReplayedPlan, asked: readonly AskedControl[], report: Report): void {
  for (const same of groupBy(controls, ({ type, subject }) => `${type} ${subject}`).values()) {
    const [first] = same;
    // A plan may be paused and resumed many times.
    const isOnce = first?.type !== "pause.asked" && first?.type !== "resume.asked";
    for (const { id, type, subject } of isOnce ? same.slice(1) : [])
      report(id, `${type} of ${subject} once, as in ${first?.id}`, "a second one");
  }
  for (const control of controls) {
    if (!asked.some((ask) => isOf(ask, control)))
      report(
        control.id,
        "a control that a client sent",
        `${control.type} of ${control.subject} by ${control.by}`,
      );
  }
}

function isOf(ask: AskedControl, control: RecordedControl): boolean {
  return ask.type === control.type && ask.by === control.by && ask.subject === control.subject;
}
