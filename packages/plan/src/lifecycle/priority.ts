import { z } from "zod";

/** The priorities of a request among those of its tenant, the most urgent last. */
export const PRIORITIES = ["low", "normal", "high"] as const;

export const PrioritySchema = z.enum(PRIORITIES);
export type Priority = z.infer<typeof PrioritySchema>;

/**
 * How much earlier than its time waiting work counts, in milliseconds. Because this is a time and not a
 * class, work ages: a request of low priority is passed only by normal ones that came at most 10 minutes
 * after it, and by high ones that came at most 20 minutes after it.
 */
const HEAD_START_MS: Readonly<Record<Priority, number>> = { low: -600_000, normal: 0, high: 600_000 };

/**
 * The place of waiting work among that of its tenant: the lowest comes first.
 * @param sinceMs - since when it waits, in Unix milliseconds
 */
export function placeInLine(sinceMs: number, priority: Priority = "normal"): number {
  return sinceMs - HEAD_START_MS[priority];
}
