import { isTerminalStepStatus } from "@planwright/plan";
import type { EarlyDecision, Unit } from "./engine-state.ts";
import { resendsAllItems } from "./may-have-acted.ts";
import { type Change, change, type Turn } from "./turn.ts";

/**
 * Applies an operator's decision to a unit. A decision that does not fit the unit's status changes nothing.
 */
export function applyDecision(turn: Turn, unit: Unit, decision: EarlyDecision): void {
  if (unit.unacknowledged) {
    unit.early = decision;
    return;
  }
  if (decision.type === "approval") applyApproval(turn, unit, decision);
  else applyResolution(turn, unit, decision);
}

function applyApproval(turn: Turn, unit: Unit, decision: Extract<EarlyDecision, { type: "approval" }>): void {
  if (unit.status !== "WAITING_APPROVAL") return;
  turn.state.awaitingApproval--;
  if (decision.approved) {
    change(turn, unit, { status: "PENDING", approved: true });
    return;
  }
  const message = decision.reason ?? `Approval of step '${unit.step.step.id}' was refused`;
  change(turn, unit, { status: "FAILED", error: { code: "APPROVAL_REFUSED", message, retryable: false } });
}

function applyResolution(
  turn: Turn,
  unit: Unit,
  decision: Extract<EarlyDecision, { type: "resolve" }>,
): void {
  // An item cannot be resolved any more once the end of its list is being stored.
  if (unit.status !== "IN_DOUBT" || isTerminalStepStatus(unit.step.unit.status)) return;
  const { resolution } = decision;
  if (resolution.type === "completed")
    settleDoubt(turn, unit, { status: "COMPLETED", output: resolution.output });
  else if (resolution.type === "failed")
    settleDoubt(turn, unit, { status: "FAILED", error: resolution.error });
  else callOnceMore(turn, unit);
}

/** Makes a unit in doubt PENDING, so that it is called again. */
export function callOnceMore(turn: Turn, unit: Unit): void {
  // A repeatable call asks for the result of the earlier one, which may have acted. A call that must not be
  // repeated starts anew: the operator decided that it did not act.
  unit.mayHaveActed = resendsAllItems(unit.step.tool);
  // Its server is waited for anew, in a new attempt: a decision is about one attempt.
  unit.unreachable = undefined;
  if (unit.caller) unit.caller.unreachable = undefined;
  settleDoubt(turn, unit, { status: "PENDING" });
}

function settleDoubt(turn: Turn, unit: Unit, to: Change): void {
  turn.state.inDoubt--;
  if (unit.item !== undefined && unit.step.forEach) unit.step.forEach.inDoubt--;
  change(turn, unit, to);
}
