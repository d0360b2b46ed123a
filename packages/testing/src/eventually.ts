import { vi } from "vitest";

/** The first value that is read and is true, asked for again and again; rejects after a minute, and at once when reading fails. */
export function eventually<T>(read: () => Promise<T | null | undefined>) {
  return vi.waitUntil(read, { timeout: 60_000, interval: 5 });
}
