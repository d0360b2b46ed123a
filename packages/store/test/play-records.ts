import type { AttemptEnd, Intent, PlanClaim, Store, UnitRecord } from "@planwright/store";

/** The methods of a store that {@link playRecords} uses. */
type RecordingStore = Pick<Store, "noteIntents" | "writeRecords" | "now">;

/**
 * Moves units to the given states by their lifecycle: lists are expanded, and units that complete were
 * called.
 * @param acts - the calls have effects. Default: they only read
 * @returns what `writeRecords` returns
 */
export async function playRecords(
  store: RecordingStore,
  claim: PlanClaim,
  records: readonly UnitRecord[],
  acts = false,
): Promise<ReadonlyMap<string, number>> {
  const isNew = ({ key, item }: UnitRecord): boolean => item !== undefined && !claim.journal.unit(key);
  const lists = new Set<string>(claim.plan.plan.steps.flatMap((step) => ("forEach" in step ? step.id : [])));
  const isRunning = ({ key }: UnitRecord): boolean => claim.journal.unit(key)?.status === "RUNNING";
  const completed = records.filter((record) => record.status === "COMPLETED" && !isRunning(record));
  const items = records.filter(isNew).map(({ key, stepId, item }) => pendingItem(key, stepId, item));
  const running = completed.filter(({ key }) => lists.has(key)).map(({ key }) => runningList(key));
  if (items.length + running.length > 0) await store.writeRecords(claim, [...items, ...running], []);
  const called = completed.filter(({ key }) => !lists.has(key));
  store.noteIntents(
    claim,
    called.map((record) => intentOf(record, acts)),
  );
  const endedAtMs = store.now();
  return store.writeRecords(
    claim,
    records,
    called.map(({ key }) => endOf(key, endedAtMs)),
  );
}

function pendingItem(key: string, stepId: string, item: number | undefined): UnitRecord {
  return { key, stepId, item, status: "PENDING", attempts: 0 };
}

function runningList(key: string): UnitRecord {
  return { key, stepId: key, status: "RUNNING", attempts: 0 };
}

function intentOf({ key, stepId, item }: UnitRecord, acts: boolean): Intent {
  const items = item === undefined ? undefined : [item];
  const call = { key, stepId, items, attempt: 1, tool: stepId, arguments: {}, timeoutMs: 1_000 };
  return {
    call: { ...call, effectClass: acts ? "U" : "R", mayAct: acts },
    attemptId: `try-${key}`,
    argsHash: "h",
  };
}

function endOf(key: string, endedAtMs: number): AttemptEnd {
  return { key, attemptId: `try-${key}`, endedAtMs, durationMs: 1, outcome: "completed", error: null };
}
