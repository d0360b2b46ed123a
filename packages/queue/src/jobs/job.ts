import { z } from "zod";

/** The queues: `planning` carries request ids, `execution` carries plan ids. */
export type QueueName = "planning" | "execution";

/** The data of a job: a hint to look at one id. All its data is in MongoDB too. */
export const JobDataSchema = z.object({ id: z.string().min(1).max(128) });
export type JobData = z.infer<typeof JobDataSchema>;

/** Job ids are stable, so that two offers queue one job. They contain no ":", which BullMQ reserves. */
export function executionJobId(planId: string, epoch: number): string {
  return `${planId}-${epoch}`;
}
