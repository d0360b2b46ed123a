import { CodedError } from "@planwright/plan";
import type { Stack } from "../stack/start-stack.ts";

/** Our own errors in their own words; of others the stack as well, because nobody expected them. */
export function tellError(error: unknown): void {
  console.error(error instanceof CodedError ? `\n${error.message}` : error);
}

/**
 * Ctrl-C and SIGTERM end the stack in good order (exit code 130 or 143), a second one at once.
 * @returns ends the stack, for the normal end; waits for an end that is under way
 */
export function stopOnSignals(stackNow: () => Stack | undefined): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => stackNow()?.stop())();
    return stopping;
  };
  let isInterrupted = false;
  const onSignal = (signal: NodeJS.Signals) => {
    const exitCode = signal === "SIGINT" ? 130 : 143;
    if (isInterrupted) process.exit(exitCode); // the watchdog ends what is left
    isInterrupted = true;
    console.log("\nStopping ... (Ctrl-C again to stop at once)");
    void stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        tellError(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal);
  return stop;
}
