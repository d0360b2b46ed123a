/** The last checks of a call, when its connection is open: opening it may have taken long. */
import type { Call, StepError } from "@planwright/engine";
import type { ToolDescriptor } from "@planwright/plan";
import type { Slot } from "@planwright/queue";
import type { Logger } from "@planwright/runtime";
import type { Clearance } from "@planwright/tools";
import type { PlanTools } from "../tools/plan-tools.ts";
import type { PendingWrites } from "./pending-writes.ts";
import type { RightToCall } from "./right-to-call.ts";

/** Dependencies of {@link createClearances}. */
export interface ClearanceParts {
  planTools: Pick<PlanTools, "judge">;
  pending: Pick<PendingWrites, "warn">;
  right: RightToCall;
  logger: Logger;
  /** True when the run has ended: nothing starts and nothing is reported. */
  hasEnded: () => boolean;
  /** True when the plan's deadline has passed. */
  isExpired: () => boolean;
}

/** Facts that a clearance depends on. */
export interface ClearanceRequest {
  /** The tool as its server lists it now. */
  offered: ToolDescriptor;
  /** The call's slot under a limit beyond the plan. */
  slot: Slot | undefined;
  /** True when its arguments have secrets. */
  sendsSecrets: boolean;
  /** Fills in the secrets, and returns the arguments to send. */
  fill: () => Promise<Clearance>;
}

/** Decides whether a call is sent. */
export interface Clearances {
  /** Whether this call is sent now, and with which arguments. */
  clear(call: Call, request: ClearanceRequest): Promise<Clearance>;
}

/** The clearances of one run. */
export function createClearances(parts: ClearanceParts): Clearances {
  const { planTools, pending, right, logger, hasEnded, isExpired } = parts;
  /** Changes of tools that were logged already. */
  const loggedChanges = new Set<string>();

  /**
   * Why a call must not go to the tool as its server lists it now. A change that does not prevent the call
   * becomes a warning.
   */
  function refusalOfTool(
    call: Call,
    { offered, sendsSecrets }: Pick<ClearanceRequest, "offered" | "sendsSecrets">,
  ): StepError | undefined {
    const { tool, verify: isLookup = false } = call;
    const { changes, refusal, warning } = planTools.judge({ tool, isLookup, sendsSecrets }, offered);
    if (changes.length === 0) return undefined;
    if (warning !== undefined) pending.warn(call, warning);
    const change = JSON.stringify([offered.server, offered.name, changes]);
    if (loggedChanges.has(change)) return refusal;
    loggedChanges.add(change);
    const facts = { tool: offered.name, server: offered.server, changes };
    logger.warn(facts, refusal ? "tool has changed, and is not called" : "tool has changed, and is called");
    return refusal;
  }

  async function maySend(call: Call, slot: Slot | undefined): Promise<boolean> {
    do {
      if (!(await right.wait())) return false;
      if (slot && !(await slot.confirm())) return false;
    } while (!right.isHeld());
    return !hasEnded() && (call.settles === true || !isExpired());
  }

  return {
    // The tool is checked first: no secret is read for a tool that has changed.
    async clear(call, { slot, fill, ...request }) {
      const refusal = refusalOfTool(call, request);
      if (refusal) return { type: "failed", effect: "none", error: refusal };
      const clearance = await fill();
      if (clearance.type !== "send") return clearance;
      return (await maySend(call, slot)) ? clearance : { type: "aborted" };
    },
  };
}
