import type { AttemptEnd, FinishCommand } from "@planwright/store";

/** Hears what happens to plans and calls, to count it. Called once per event, on the path of every step: it never waits and never throws. */
export interface RunMetrics {
  /** A plan was claimed by this process. */
  claimed(): void;
  /** How many plans this process works on now. */
  held(plans: number): void;
  /** The terminal status of a plan became durable. */
  ended(status: FinishCommand["status"]): void;
  /** Work on a plan was given up because its lease was gone. */
  leaseLost(): void;
  /** A call is sent that is not the first of its step. */
  retried(): void;
  /** A call of a tool ended. */
  attempted(tool: string, outcome: AttemptEnd["outcome"], durationMs: number): void;
  /** It became durable that it is unknown whether a call had its effect. */
  inDoubt(): void;
  /** Bytes of outputs in memory that could be dropped, of all plans together. */
  outputsHeld(bytes: number): void;
  /** Outputs that had been dropped were read again. */
  outputsRead(bytes: number): void;
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
};
