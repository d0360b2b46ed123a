import type { Document } from "mongodb";

/** Fields of a request whose planning has ended, or waits for its user. Pure. */
export function settled(now: Date): Document {
  return { updatedAt: now, "planning.lease": null, "planning.dueAt": null, "planning.finishedAt": now };
}
