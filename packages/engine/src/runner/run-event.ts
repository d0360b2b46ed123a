import type { FinalPlanStatus } from "@planwright/plan";
import type { Call, StepRecord } from "../state/protocol.ts";

/** Events of a running plan, in order. Times are in Unix milliseconds of the run's clock. */
export type RunEvent =
  | { type: "call.started"; call: Call; at: number }
  /** A step or item has a new state. */
  | { type: "step.changed"; record: StepRecord; at: number }
  | { type: "plan.finished"; status: FinalPlanStatus; at: number };
