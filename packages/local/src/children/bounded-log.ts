import { copyFileSync, statSync, truncateSync } from "node:fs";

/** Largest log file, in bytes. A larger one replaces the older file. */
export const MAX_LOG_BYTES = 16_777_216;
const LOOK_EVERY_MS = 5_000;

/**
 * Keeps a log file that a process appends to, and the older one beside it (`.1`), at MAX_LOG_BYTES each and
 * what comes within 5 s. The file is copied and emptied, because the process holds it open; lines that are
 * written in between are lost.
 * @returns ends it
 */
export function boundLog(
  file: string,
  { maxBytes = MAX_LOG_BYTES, lookEveryMs = LOOK_EVERY_MS } = {},
): () => void {
  const look = (): void => {
    const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (sizeBytes <= maxBytes) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  };
  look();
  const timer = setInterval(look, lookEveryMs).unref();
  return () => clearInterval(timer);
}
