import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

const TAIL_BYTES = 8_192;

/** The last lines of a file, at most 8 KiB; "" when there is none. @param lines - at most so many */
export function lastLines(file: string, lines = 15): string {
  if (!existsSync(file)) return "";
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    const length = Math.min(size, TAIL_BYTES);
    const bytes = Buffer.alloc(length);
    readSync(handle, bytes, 0, length, size - length);
    return bytes.toString("utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } finally {
    closeSync(handle);
  }
}
