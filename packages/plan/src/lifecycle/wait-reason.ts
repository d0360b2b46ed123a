import { z } from "zod";
import { type Need, needsPerson, statusesOf } from "./lifecycle.ts";

/** Why an unfinished step, plan or request waits, and what it waits for. */
export const WAIT_REASONS = {
  dependency: { needs: "nothing" },
  limit: { needs: "nothing" },
  backoff: { needs: "nothing" },
  memory: { needs: "nothing" },
  approval: { needs: "approval" },
  "in doubt": { needs: "doubt" },
  paused: { needs: "resume" },
  "no worker": { needs: "worker" },
} as const satisfies Record<string, { needs: Need }>;

/** Why an unfinished step, plan or request waits. */
export type WaitReason = keyof typeof WAIT_REASONS;
export const WaitReasonSchema = z.enum(statusesOf(WAIT_REASONS));

/** True for a wait that only a person ends; false also for what is no wait reason. Pure. */
export function isForPerson(reason: string): boolean {
  return Object.hasOwn(WAIT_REASONS, reason) && needsPerson(WAIT_REASONS[reason as WaitReason].needs);
}
