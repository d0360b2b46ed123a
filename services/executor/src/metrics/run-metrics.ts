import type { AttemptEnd, FinishCommand } from "@planwright/store";

/**
 * Counts events of plans and calls. Called once per event, on the path of every step, so it never waits and
 * never throws.
 */
export interface RunMetrics {
  /** A plan was claimed by this process. */
  claimed(): void;
  /** How many plans this process works on now. */
  held(plans: number): void;
  /** The terminal status of a plan became durable. */
  ended(status: FinishCommand["status"]): void;
  /** Work on a plan was abandoned because its lease was lost. */
  leaseLost(): void;
  /** A call was sent that is not the first of its step. */
  retried(): void;
  /** A tool call ended. */
  attempted(tool: string, outcome: AttemptEnd["outcome"], durationMs: number): void;
  /** A call ended in doubt: it is unknown whether it had its effect, and this is durable. */
  inDoubt(): void;
  /** Bytes of outputs in memory that could be dropped, over all plans. */
  outputsHeld(bytes: number): void;
  /** Dropped outputs were read again. */
  outputsRead(bytes: number): void;
  /** Bytes of arguments and of outputs being read, over all plans. */
  memoryReserved(bytes: number): void;
}

/** Counts nothing. */
export const NO_METRICS: RunMetrics = {
  claimed: () => undefined,
  held: () => undefined,
  ended: () => undefined,
  leaseLost: () => undefined,
  retried: () => undefined,
  attempted: () => undefined,
  inDoubt: () => undefined,
  outputsHeld: () => undefined,
  outputsRead: () => undefined,
  memoryReserved: () => undefined,
};
