import { isTerminalStepStatus } from "@planwright/plan";
import type { EarlyWord, Unit } from "./engine-state.ts";
import { isSentWhole } from "./may-have-acted.ts";
import { type Change, change, type Turn } from "./turn.ts";

/** Applies what an operator said about a unit. A word that does not fit its status changes nothing. */
export function applyWord(turn: Turn, unit: Unit, word: EarlyWord): void {
  if (unit.unacknowledged) {
    unit.early = word;
    return;
  }
  if (word.type === "approval") applyApproval(turn, unit, word);
  else applyResolution(turn, unit, word);
}

function applyApproval(turn: Turn, unit: Unit, word: Extract<EarlyWord, { type: "approval" }>): void {
  if (unit.status !== "WAITING_APPROVAL") return;
  turn.state.awaitingApproval--;
  if (word.approved) {
    change(turn, unit, { status: "PENDING", approved: true });
    return;
  }
  const message = word.reason ?? `Approval of step '${unit.step.step.id}' was refused`;
  change(turn, unit, { status: "FAILED", error: { code: "APPROVAL_REFUSED", message, retryable: false } });
}

function applyResolution(turn: Turn, unit: Unit, word: Extract<EarlyWord, { type: "resolve" }>): void {
  // For an item: unless the end of its list is on its way to the store.
  if (unit.status !== "IN_DOUBT" || isTerminalStepStatus(unit.step.unit.status)) return;
  const { resolution } = word;
  if (resolution.type === "completed")
    settleDoubt(turn, unit, { status: "COMPLETED", output: resolution.output });
  else if (resolution.type === "failed")
    settleDoubt(turn, unit, { status: "FAILED", error: resolution.error });
  else callOnceMore(turn, unit);
}

/** A unit in doubt is to be called again. */
export function callOnceMore(turn: Turn, unit: Unit): void {
  // The same call asks once more what became of it; what must not be repeated is called again on the operator's word.
  unit.mayHaveActed = isSentWhole(unit.step.tool);
  settleDoubt(turn, unit, { status: "PENDING" });
}

function settleDoubt(turn: Turn, unit: Unit, to: Change): void {
  turn.state.inDoubt--;
  if (unit.item !== undefined && unit.step.forEach) unit.step.forEach.inDoubt--;
  change(turn, unit, to);
}
