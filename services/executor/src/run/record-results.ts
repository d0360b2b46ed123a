import type { Command } from "@planwright/engine";
import type { RunHooks, RunParts } from "./run-parts.ts";

/** The command of the engine to record results. */
type RecordCommand = Extract<Command, { type: "record" }>;

/**
 * Writes results and reports them to the engine. Results of reads are reported early, before they are
 * durable: anything that depends on them is written after them, or is a read that a crash repeats together
 * with them (R2).
 */
export function createRecordResults(
  { claim, store, pending, planLog, planMetrics }: RunParts,
  { dispatch }: Pick<RunHooks, "dispatch">,
): (command: RecordCommand) => Promise<void> {
  /** Queued as a microtask, so that the commands of this turn are performed before those of the next one. */
  function reportEarly(keys: readonly string[], sizes: ReadonlyMap<string, number>): void {
    queueMicrotask(() => dispatch({ type: "recorded", keys, sizes, isEarly: true, at: store.now() }));
  }

  return async (command) => {
    const keys = command.records.map(({ key }) => key);
    const { records, ends } = pending.toWrite(command.records);
    const noted = command.isRepeatable ? store.noteRecords(claim, records, ends) : undefined;
    if (noted) reportEarly(keys, noted);
    const sizes = noted
      ? await store.writeNoted(claim).then(() => noted)
      : await store.writeRecords(claim, records, ends);
    planMetrics.recorded(command.records);
    planLog.recorded(command.records);
    dispatch({ type: "recorded", keys, sizes, at: store.now() });
  };
}
