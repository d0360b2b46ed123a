import { copyFileSync, statSync, truncateSync } from "node:fs";

/** Largest log file, in bytes. A larger one replaces the older file. */
export const MAX_LOG_BYTES = 16_777_216;
const CHECK_EVERY_MS = 5_000;

/**
 * Bounds a log file that a process appends to: the file and the older one beside it (`.1`) hold MAX_LOG_BYTES
 * each, plus the lines of 5 s. The file is copied and truncated, because the process holds it open; lines
 * that are written between copy and truncation are lost.
 * @returns stops the bounding
 */
export function boundLog(
  file: string,
  { maxBytes = MAX_LOG_BYTES, checkEveryMs = CHECK_EVERY_MS } = {},
): () => void {
  const check = (): void => {
    const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (sizeBytes <= maxBytes) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  };
  check();
  const timer = setInterval(check, checkEveryMs).unref();
  return () => clearInterval(timer);
}
