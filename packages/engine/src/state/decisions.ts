import { isTerminalStepStatus } from "@planwright/plan";
import type { EarlyDecision, Unit } from "./engine-state.ts";
import { isSentWhole } from "./may-have-acted.ts";
import { type Change, change, type Turn } from "./turn.ts";

/** Applies an operator's decision on a unit. One that does not fit its status changes nothing. */
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
  // For an item: unless the end of its list is on its way to the store.
  if (unit.status !== "IN_DOUBT" || isTerminalStepStatus(unit.step.unit.status)) return;
  const { resolution } = decision;
  if (resolution.type === "completed")
    settleDoubt(turn, unit, { status: "COMPLETED", output: resolution.output });
  else if (resolution.type === "failed")
    settleDoubt(turn, unit, { status: "FAILED", error: resolution.error });
  else callOnceMore(turn, unit);
}

/** A unit in doubt is to be called again. */
export function callOnceMore(turn: Turn, unit: Unit): void {
  // The same call asks for its result once more; a call that must not be repeated is made again by the
  // operator's decision.
  unit.mayHaveActed = isSentWhole(unit.step.tool);
  settleDoubt(turn, unit, { status: "PENDING" });
}

function settleDoubt(turn: Turn, unit: Unit, to: Change): void {
  turn.state.inDoubt--;
  if (unit.item !== undefined && unit.step.forEach) unit.step.forEach.inDoubt--;
  change(turn, unit, to);
}
