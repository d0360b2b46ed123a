import { z } from "zod";

/** The queues: `planning` carries request ids, `execution` carries plan ids. */
export type QueueName = "planning" | "execution";

/** What a job carries: a hint to look at one thing, and nothing that MongoDB does not know. */
export const JobDataSchema = z.object({ id: z.string().min(1).max(128) });
export type JobData = z.infer<typeof JobDataSchema>;

/** Job ids are stable, so that offering twice queues once. Without ":", which BullMQ keeps for itself. */
export function executionJobId(planId: string, epoch: number): string {
  return `${planId}-${epoch}`;
}
