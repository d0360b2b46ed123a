import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

const TAIL_BYTES = 8_192;
const LINES = 15;

/**
 * The last lines of a file, at most 15 and 8 KiB; "" when there is none.
 * @param from - only lines after this byte
 */
export function lastLines(file: string, from = 0): string {
  if (!existsSync(file)) return "";
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    const length = Math.max(0, Math.min(size - from, TAIL_BYTES));
    const bytes = Buffer.alloc(length);
    readSync(handle, bytes, 0, length, size - length);
    return bytes.toString("utf8").trimEnd().split("\n").slice(-LINES).join("\n");
  } finally {
    closeSync(handle);
  }
}
