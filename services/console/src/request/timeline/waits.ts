import { type StepRow } from "../../data/request-facts.ts";
import type { Span } from "./axis.ts";

/** A span in which a step did not begin or did not continue, and the reason. */
export interface Wait extends Span {
  reason: string;
}

/** The context from which the waits of a step follow. */
export interface WaitContext {
  /** When the plan was started; null if it was not. */
  begin: string | null;
  /** True when the plan has ended, so that no step waits. */
  isEnded: boolean;
  /** The steps of the plan by id, without the items of lists. */
  byId: ReadonlyMap<string, Pick<StepRow, "finishedAt">>;
  now: number;
}

/** The fields of a step that are needed. */
export type WaitingStep = Pick<
  StepRow,
  "dependsOn" | "status" | "waitReason" | "approved" | "approvalHash" | "carriedFrom" | "settled"
> & { attempts: readonly { startedAt: string; endedAt: string | null }[] };

/**
 * Why a step waited, in order: for its dependencies until the last of them ended, then for an approval or its
 * turn, and after its last attempt for a decision on a doubt.
 */
export function waitsOf(step: WaitingStep, context: WaitContext): Wait[] {
  return step.carriedFrom === null ? [...waitsBefore(step, context), ...waitForDecision(step, context)] : [];
}

function waitsBefore(step: WaitingStep, { begin, isEnded, byId, now }: WaitContext): Wait[] {
  const first = step.attempts[0];
  const isWaiting = step.status === "PENDING" || step.status === "WAITING_APPROVAL";
  if (begin === null || (!first && (isEnded || !isWaiting))) return [];
  const from = Date.parse(begin);
  const to = first ? Date.parse(first.startedAt) : now;
  const ends = step.dependsOn.map((id) => byId.get(id)?.finishedAt ?? null);
  const ended = ends.flatMap((at) => (at === null ? [] : Date.parse(at)));
  const isHeld = !first && ends.includes(null);
  const ready = isHeld ? to : Math.min(to, Math.max(from, ...ended));
  const needsApproval = step.approved || step.approvalHash !== null || step.status === "WAITING_APPROVAL";
  const reason = needsApproval ? "approval" : ((first ? null : step.waitReason) ?? "its turn");
  const waits = [
    { from, to: ready, reason: "dependency" },
    { from: ready, to, reason },
  ];
  return waits.filter((wait) => wait.to > wait.from);
}

function waitForDecision(step: WaitingStep, { now }: WaitContext): Wait[] {
  const end = step.attempts.at(-1);
  if (!end || (step.status !== "IN_DOUBT" && step.settled === null)) return [];
  const from = Date.parse(end.endedAt ?? end.startedAt);
  const to = step.settled?.at ? Date.parse(step.settled.at) : now;
  return to > from ? [{ from, to, reason: "in doubt" }] : [];
}
