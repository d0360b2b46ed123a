import { vi } from "vitest";

/** Reads until the value is truthy and returns it. Rejects after a minute, and at once when reading fails. */
export function eventually<T>(read: () => Promise<T | null | undefined>) {
  return vi.waitUntil(read, { timeout: 60_000, interval: 5 });
}
