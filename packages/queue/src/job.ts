import { z } from "zod";

/** What a job carries: the id to look at, nothing else (DESIGN §6). */
export const JobDataSchema = z.object({ id: z.string().min(1).max(100) });
export type JobData = z.infer<typeof JobDataSchema>;
