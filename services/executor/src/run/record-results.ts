import type { Command, StepRecord } from "@planwright/engine";
import { groupBy } from "@planwright/plan";
import type { RunHooks, RunParts } from "./run-parts.ts";

/** The command of the engine to record results. */
type RecordCommand = Extract<Command, { type: "record" }>;

/**
 * Writes results and reports them to the engine. Results of reads are reported early, before they are
 * durable: anything that depends on them is written after them, or is a read that a crash repeats together
 * with them (R2).
 *
 * A step begins to wait for approval only when something would be called: otherwise its calls are carried over.
 */
export function createRecordResults(
  { claim, store, calls, pending, planLog, planMetrics }: RunParts,
  { dispatch }: Pick<RunHooks, "dispatch">,
): (command: RecordCommand) => Promise<void> {
  /** Queued as a microtask, so that the commands of this turn are performed before those of the next one. */
  function reportEarly(keys: readonly string[], sizes: ReadonlyMap<string, number>): void {
    queueMicrotask(() => dispatch({ type: "recorded", keys, sizes, isEarly: true, at: store.now() }));
  }

  async function write(changed: readonly StepRecord[], isRepeatable: boolean): Promise<void> {
    const keys = changed.map(({ key }) => key);
    const { records, ends } = pending.toWrite(changed);
    const noted = isRepeatable ? store.noteRecords(claim, records, ends) : undefined;
    if (noted) reportEarly(keys, noted);
    const sizes = noted
      ? await store.writeNoted(claim).then(() => noted)
      : await store.writeRecords(claim, records, ends);
    planMetrics.recorded(changed);
    planLog.recorded(changed);
    dispatch({ type: "recorded", keys, sizes, at: store.now() });
  }

  return async ({ records, isRepeatable, toApprove = [] }) => {
    const byStep = groupBy(toApprove, ({ stepId }) => stepId);
    const compared = [...byStep].filter(([, asked]) => asked.every(calls.mayRepeat));
    if (compared.length === 0) return write(records, isRepeatable);
    const ids = new Set(compared.map(([stepId]) => stepId));
    const others = records.filter(({ key }) => !ids.has(key));
    const approvals = compared.map(async ([stepId, asked]) => {
      if (await calls.areDone(asked)) dispatch({ type: "approval.unneeded", stepId, at: store.now() });
      else
        await write(
          records.filter(({ key }) => key === stepId),
          false,
        );
    });
    await Promise.all([...(others.length > 0 ? [write(others, isRepeatable)] : []), ...approvals]);
  };
}
