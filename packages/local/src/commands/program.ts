import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@planwright/plan";
import { holdFolder } from "../data-folders.ts";
import { localFetch } from "../local-fetch.ts";
import type { Stack } from "../start-stack.ts";

/**
 * The folder of data and logs of `planwright up` and `planwright demo`. They share it, so that each shows the
 * requests of the other.
 */
export const DATA_DIR = process.env["DATA_DIR"] || join(".data", "planwright");

const addressFile = join(DATA_DIR, "api-url");

/** Removes the address that {@link writeAddress} wrote, also the one of a system that was killed. */
export function forgetAddress(): void {
  rmSync(addressFile, { force: true });
}

/**
 * Writes the address of the system that keeps running, for other programs of this folder; see
 * {@link folderOrSystem}.
 */
export function writeAddress(apiUrl: string): void {
  writeFileSync(addressFile, apiUrl);
}

/**
 * Locks the data folder for this process, or returns the address of the system that `planwright up` runs from it.
 * Waits while another program that ends by itself, such as a demo, holds the folder.
 */
export async function folderOrSystem(
  say: (line: string) => void,
): Promise<{ type: "folder" } | { type: "system"; apiUrl: string }> {
  for (let isReported = false; ; isReported = true) {
    if (await holdFolder(DATA_DIR)) {
      forgetAddress();
      return { type: "folder" };
    }
    const apiUrl = runningSystem();
    if (apiUrl !== undefined && (await isReady(apiUrl))) return { type: "system", apiUrl };
    if (!isReported) say(`Another program uses ${DATA_DIR}; waiting for it to end or to be ready ...`);
    await delay(200);
  }
}

function runningSystem(): string | undefined {
  try {
    return readFileSync(addressFile, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function isReady(apiUrl: string): Promise<boolean> {
  try {
    const response = await localFetch(new URL("/readyz", apiUrl), { signal: AbortSignal.timeout(2_000) });
    return response.ok;
  } catch {
    return false; // the system is starting, or has ended and left its address
  }
}

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
