import type { AttemptEnd, Intent, PlanClaim, Store, UnitRecord } from "@planwright/store";

/** What {@link playRecords} uses of a store. */
type Playing = Pick<Store, "noteIntents" | "writeRecords" | "now">;

/**
 * Brings units to the states that a test wants, by the moves of their lifecycle: lists are expanded, and what
 * completes was called.
 * @returns what `writeRecords` returns
 */
export async function playRecords(
  store: Playing,
  claim: PlanClaim,
  records: readonly UnitRecord[],
): Promise<ReadonlyMap<string, number>> {
  const isNew = ({ key, item }: UnitRecord): boolean => item !== undefined && !claim.journal.unit(key);
  const lists = new Set<string>(claim.plan.plan.steps.flatMap((step) => ("forEach" in step ? step.id : [])));
  const isUnderWay = ({ key }: UnitRecord): boolean => claim.journal.unit(key)?.status === "RUNNING";
  const completed = records.filter((record) => record.status === "COMPLETED" && !isUnderWay(record));
  const items = records.filter(isNew).map(({ key, stepId, item }) => asItBegan(key, stepId, item));
  const begun = completed.filter(({ key }) => lists.has(key)).map(({ key }) => asItRuns(key));
  if (items.length + begun.length > 0) await store.writeRecords(claim, [...items, ...begun], []);
  const called = completed.filter(({ key }) => !lists.has(key));
  store.noteIntents(claim, called.map(intentOf));
  const endedAtMs = store.now();
  return store.writeRecords(
    claim,
    records,
    called.map(({ key }) => endOf(key, endedAtMs)),
  );
}

function asItBegan(key: string, stepId: string, item: number | undefined): UnitRecord {
  return { key, stepId, item, status: "PENDING", attempts: 0 };
}

function asItRuns(key: string): UnitRecord {
  return { key, stepId: key, status: "RUNNING", attempts: 0 };
}

function intentOf({ key, stepId, item }: UnitRecord): Intent {
  const items = item === undefined ? undefined : [item];
  const what = { key, stepId, items, attempt: 1, tool: stepId, arguments: {}, timeoutMs: 1_000 };
  return { call: { ...what, effectClass: "R", mayAct: false }, attemptId: `try-${key}`, argsHash: "h" };
}

function endOf(key: string, endedAtMs: number): AttemptEnd {
  return { key, attemptId: `try-${key}`, endedAtMs, durationMs: 1, outcome: "completed", error: null };
}
