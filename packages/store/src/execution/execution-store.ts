import type { Call, Effect, StepError, StepRecord } from "@planwright/engine";
import type { Plan, WaitReason } from "@planwright/plan";
import type { PlanDocument } from "../records/plan-document.ts";
import type { ClaimJournal } from "./claim-journal.ts";
import type { createExecutionStore } from "./create-execution-store.ts";

/** A claim on a plan: its durable state, and the epoch that fences every write. */
export interface PlanClaim {
  plan: PlanDocument & { plan: Plan };
  epoch: number;
  owner: string;
  /** The durable state of the units; changes are written through it. */
  journal: ClaimJournal;
  /**
   * The units at the time of the claim, in the form of the engine. Large outputs are absent, and small ones
   * beyond 1 MiB together.
   */
  records: StepRecord[];
  /**
   * How long the plan waited until this claim, and for what: since it was queued ("no worker"), or since an
   * executor released it. Null for a plan that was taken from a dead executor.
   */
  waited: { reason: WaitReason; ms: number } | null;
}

/** A unit's new state. When its `arguments` are to be approved, it has their hashes. */
export type UnitRecord = StepRecord & {
  /** Hash of plan, step, arguments and tool: what an operator approves. */
  approvalHash?: string | undefined;
  /** SHA-256 of the arguments alone. */
  argsHash?: string | undefined;
};

/** An attempt's durable intent (R2). */
export interface Intent {
  call: Call;
  attemptId: string;
  argsHash: string;
  /** Its idempotency key, when it is not `{planId}/{the only unit}`. */
  sentKey?: string | undefined;
  /** Size and beginning of large arguments, which are not in `call`. Default: those of the call. */
  large?: { sizeBytes: number; text: string } | undefined;
}

/** How an attempt ended; the unit's new state is separate. */
export interface AttemptEnd {
  key: string;
  attemptId: string;
  endedAtMs: number;
  durationMs: number;
  outcome: "completed" | "failed" | "aborted" | "unknown";
  error: StepError | null;
  /** The call was not sent: the server could not be reached. */
  isUnsent?: boolean | undefined;
  /** What is known about its effect; null for a call that cannot have one. Default: it follows from `outcome`. */
  effect?: Effect | null | undefined;
}

/** The last records and ends of attempts before the end of a plan. */
export interface LastRecords {
  records: readonly StepRecord[];
  ends: readonly AttemptEnd[];
}

/** The operations that the executor needs. Writes of all plans in the process share bulks. */
export type ExecutionStore = ReturnType<typeof createExecutionStore>;
