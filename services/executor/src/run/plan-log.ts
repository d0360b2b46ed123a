import type { Command, StepError, StepRecord } from "@planwright/engine";
import { type Plan, toolOfStep } from "@planwright/plan";
import type { Logger } from "@planwright/runtime";
import type { PlanClaim } from "@planwright/store";

/**
 * Logs the work on a plan, so that the log alone shows what happened to a request: which executor claimed it
 * and from which one, which calls failed with which code or were made with a warning, such as a reference that
 * stayed text, and how the plan ended. Problems are warnings.
 */
export interface PlanLog {
  /** The plan was claimed. */
  claimed(claim: PlanClaim): void;
  /** Units changed, durably. */
  recorded(records: readonly StepRecord[]): void;
  /** The plan has ended, durably. */
  ended(end: Pick<Extract<Command, { type: "finish" }>, "status" | "error">): void;
}

/** Most lines about units under one claim: a list has up to 10,000 items. */
const MAX_LINES = 50;
/** Most characters of a tool's message. */
const MAX_MESSAGE = 500;
/** Most units, and most warnings, named in one line. */
const MAX_NAMED = 10;

/** @param logger - adds request, plan and epoch to every line */
export function createPlanLog(logger: Pick<Logger, "info" | "warn">, plan: Plan): PlanLog {
  const tools = new Map<string, string>(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  let left = MAX_LINES;

  function log(level: "info" | "warn", record: StepRecord, message: string): void {
    const { key, stepId, attempts, error, warnings = [] } = record;
    left -= 1;
    if (left < 0) return;
    const texts = warnings.slice(0, MAX_NAMED).map((text) => text.slice(0, MAX_MESSAGE));
    const told = texts.length > 0 ? { warnings: texts } : {};
    logger[level]({ step: key, tool: tools.get(stepId), attempts, ...factsOf(error), ...told }, message);
    if (left === 0)
      logger.warn("further calls that fail under this claim are not logged; the request shows them");
  }

  return {
    claimed({ plan: { takenFrom }, records }) {
      logger.info({ steps: plan.steps.length }, "plan claimed");
      if (typeof takenFrom !== "string") return;
      const running = records.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
      const facts = { from: takenFrom, running: running.slice(0, MAX_NAMED), calls: running.length };
      logger.warn(facts, "plan taken over from an executor that did not release it");
    },
    recorded(records) {
      for (const record of records) {
        if (record.carried) continue;
        if (record.status === "FAILED") log("warn", record, "step failed");
        if (record.status === "COMPLETED" && (record.warnings ?? []).length > 0)
          log("warn", record, "step completed with warnings");
        if (record.status === "IN_DOUBT") log("warn", record, "step in doubt");
        if (record.status === "RETRYING") log("info", record, "attempt failed; the call is tried again");
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
