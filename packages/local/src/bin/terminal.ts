import { constants } from "node:os";
import { CodedError } from "@planwright/plan";
import type { Stack } from "../stack/start-stack.ts";

/** Prints the message of a coded error; any other error was not expected and is printed with its stack. */
export function printError(error: unknown): void {
  console.error(error instanceof CodedError ? `\n${error.message}` : error);
}

/** Below npm one Ctrl-C reaches this process twice: from the terminal, and from npm, which forwards it. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Ctrl-C, SIGTERM and SIGHUP stop the stack in order (exit code 130, 143 or 129). A second signal, more than a second
 * later, ends the process at once.
 * @returns stops the stack, for the normal end; if it is being stopped already, waits for that
 */
export function stopOnSignals(stackNow: () => Stack | undefined): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => stackNow()?.stop())();
    return stopping;
  };
  let interruptedAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const exitCode = 128 + constants.signals[signal];
    if (interruptedAt !== undefined) {
      if (performance.now() - interruptedAt < SAME_SIGNAL_MS) return;
      process.exit(exitCode); // the watchdog ends the remaining processes
    }
    interruptedAt = performance.now();
    console.log("\nStopping ... (Ctrl-C again to stop at once)");
    void stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        printError(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal);
  return stop;
}
