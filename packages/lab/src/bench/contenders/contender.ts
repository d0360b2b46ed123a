import { CodedError } from "@planwright/plan";
import type { ProcessNames } from "../../measuring/process-cpu.ts";

/** A running system. It serves the diamond a -> (b, c, d) -> e over HTTP. */
export interface Contender {
  name: string;
  /** Its version as `version`, and those of its databases, such as { version: "0.1.0", MongoDB: "8.2.0" }. */
  versions: Readonly<Record<string, string>>;
  /** Where its steps run, such as "in process". */
  steps: string;
  /** How its client receives the end, such as "the answer". */
  end: string;
  processes: ProcessNames;
  /**
   * Requests one plan and waits for its end.
   * @throws {PlanNotCompletedError} or an error of the connection
   */
  runPlan(): Promise<void>;
  /** Counters of its servers since their start, by name; absent when not known. */
  counts?: (() => Promise<Record<string, number>>) | undefined;
  /** Ends all its processes. */
  close(): Promise<void>;
}

/** A plan did not end COMPLETED, so the figures of the run would mean nothing. */
export class PlanNotCompletedError extends CodedError<{ contender: string; reason: string }> {
  readonly code = "PLAN_NOT_COMPLETED";
  readonly retryable = false;
  constructor(facts: { contender: string; reason: string }) {
    super(`A plan of ${facts.contender} did not end COMPLETED: ${facts.reason.slice(0, 500)}`, facts);
  }
}
