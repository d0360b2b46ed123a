import { CodedError } from "@planwright/plan";
import type { Stack } from "../stack/start-stack.ts";

/** The message of our own errors; of other errors also the stack, because they were not expected. */
export function tellError(error: unknown): void {
  console.error(error instanceof CodedError ? `\n${error.message}` : error);
}

/** One Ctrl-C reaches this process twice below npm: from the terminal, and from npm, which forwards it. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Ctrl-C and SIGTERM end the stack in good order (exit code 130 or 143), a second one more than a second
 * later at once.
 * @returns ends the stack, for the normal end; waits for an end that is under way
 */
export function stopOnSignals(stackNow: () => Stack | undefined): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => stackNow()?.stop())();
    return stopping;
  };
  let interruptedAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const exitCode = signal === "SIGINT" ? 130 : 143;
    if (interruptedAt !== undefined) {
      if (performance.now() - interruptedAt < SAME_SIGNAL_MS) return;
      process.exit(exitCode); // the watchdog ends what is left
    }
    interruptedAt = performance.now();
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
