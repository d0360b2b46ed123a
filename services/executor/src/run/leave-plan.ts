import { type Command } from "@planwright/engine";
import { approvalTimeoutOf, isForPerson } from "@planwright/plan";
import type { ExecutionStore, FinishCommand } from "@planwright/store";
import type { RunParts } from "./run-parts.ts";

type CommandOf<Type extends Command["type"]> = Extract<Command, { type: Type }>;

/** The two ways in which a run leaves its plan in order. */
export interface LeavePlan {
  /** Writes the end of the plan. */
  finish(command: CommandOf<"finish">): Promise<void>;
  /** Releases the plan, unless it has something to do soon. */
  park(command: CommandOf<"park">): Promise<void>;
}

/** A plan that has nothing to do for longer than this is released, in milliseconds. */
const RELEASE_AFTER_MS = 5_000;

/** @param end - ends the run; called when everything is written */
export function createLeavePlan(run: RunParts, end: () => void): LeavePlan {
  const { policy } = run.claim.plan.plan;
  const { claim, store, phases, pending, planLimits, planLog, planMetrics, trace, logger } = run;

  async function release(to: Parameters<ExecutionStore["releasePlan"]>[1]): Promise<void> {
    phases.enter("leaving");
    await store.releasePlan(claim, to);
  }

  return {
    async finish(command) {
      const { isForPlanner } = await store.finishPlan(claim, command, pending.toWrite(command.records));
      const { requestId, tenant, priority } = claim.plan;
      if (isForPlanner) run.offerPlanning?.({ _id: requestId, tenant, priority });
      planMetrics.recorded(command.records);
      planMetrics.ended(command);
      trace?.ended(command.status, failureOf(command));
      planLog.recorded(command.records);
      planLog.ended(command);
      end();
    },

    async park({ reason, status, until: at }) {
      const isPeople = isForPerson(reason);
      const longest = isPeople && reason !== "approval" ? store.now() + approvalTimeoutOf(policy) : null;
      const until = (reason === "limit" ? planLimits?.releaseUntil() : undefined) ?? at ?? longest;
      if (phases.now() === "handing over") {
        await release({ status: "QUEUED" });
        trace?.ended("handed over");
        // A plan that waits for a person is always released: that stops the clock of its deadline.
      } else if (!isPeople && until !== null && until - store.now() <= RELEASE_AFTER_MS) return;
      else {
        await release({ status, reason, dueAtMs: until });
        trace?.ended(status);
        const dueAt = until === null ? null : new Date(until).toISOString();
        logger.info({ reason, until: dueAt }, "plan waits");
      }
      end();
    },
  };
}

/** The code of a plan that failed; null for every other plan. */
function failureOf({ status, error }: FinishCommand): string | null {
  return error?.code ?? (status === "FAILED" ? "PLAN_FAILED" : null);
}
