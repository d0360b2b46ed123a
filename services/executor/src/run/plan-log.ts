import type { Command, StepError, StepRecord } from "@planwright/engine";
import { type Plan, toolOfStep } from "@planwright/plan";
import type { Logger } from "@planwright/runtime";
import type { PlanClaim } from "@planwright/store";

/**
 * Tells the story of a plan, so that what became of a request can be read from the log alone: who took it, from whom, which calls
 * failed, with which code, and how it ended. What goes wrong is a warning.
 */
export interface PlanLog {
  /** The plan was claimed. */
  claimed(claim: PlanClaim): void;
  /** Units changed, and MongoDB knows. */
  recorded(records: readonly StepRecord[]): void;
  /** The plan is over, and MongoDB knows. */
  ended(end: Pick<Extract<Command, { type: "finish" }>, "status" | "error">): void;
}

/** Lines about units that one claim writes: a list has up to 10,000 items. */
const MAX_LINES = 50;
/** Characters of what a tool said. */
const MAX_MESSAGE = 500;
/** Units that are named in one line. */
const MAX_NAMED = 10;

/** @param logger - says request, plan and epoch on every line */
export function createPlanLog(logger: Pick<Logger, "info" | "warn">, plan: Plan): PlanLog {
  const tools = new Map<string, string>(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  let left = MAX_LINES;

  function tell(level: "info" | "warn", { key, stepId, attempts, error }: StepRecord, message: string): void {
    left -= 1;
    if (left < 0) return;
    logger[level]({ step: key, tool: tools.get(stepId), attempts, ...factsOf(error) }, message);
    if (left === 0)
      logger.warn("further calls that fail under this claim are not logged; the request shows them");
  }

  return {
    claimed({ plan: { takenFrom }, records }) {
      logger.info({ steps: plan.steps.length }, "plan claimed");
      if (typeof takenFrom !== "string") return;
      const underWay = records.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
      const facts = { from: takenFrom, underWay: underWay.slice(0, MAX_NAMED), calls: underWay.length };
      logger.warn(facts, "plan taken over from an executor that did not give it back");
    },
    recorded(records) {
      for (const record of records) {
        if (record.carried) continue;
        if (record.status === "FAILED") tell("warn", record, "step failed");
        if (record.status === "IN_DOUBT") tell("warn", record, "step in doubt");
        if (record.status === "RETRYING") tell("info", record, "attempt failed; the call is tried again");
      }
    },
    ended({ status, error }) {
      if (status === "COMPLETED") return logger.info({ status }, "plan finished");
      const data = error?.data;
      const stepId =
        typeof data === "object" && data !== null && "stepId" in data ? data["stepId"] : undefined;
      const step = typeof stepId === "string" ? { step: stepId, tool: tools.get(stepId) } : {};
      const facts = { status, ...step, ...factsOf(error) };
      if (status === "CANCELLED") logger.info(facts, "plan cancelled");
      else logger.warn(facts, status === "PARTIAL" ? "plan ended in part" : "plan failed");
    },
  };
}

function factsOf(error: StepError | undefined): { code?: string; reason?: string } {
  return error ? { code: error.code, reason: error.message.slice(0, MAX_MESSAGE) } : {};
}
