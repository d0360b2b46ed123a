import { hasPlaceholder, isJsonObject, type JsonValue } from "@planwright/plan";
import { useLocation } from "wouter";
import {
  AMEND_AS_SUGGESTED,
  CANCEL,
  EXECUTE_PLAN,
  PAUSE,
  REPLAN,
  RERUN,
  RESUME,
} from "../data/control-operations.ts";
import type { RequestPage } from "../data/request-operations.ts";
import { type Action, useAction } from "../data/use-action.ts";
import { deskPath } from "../parts/desk-path.ts";

/** A button; without `press` it can do nothing at the moment. */
export interface NextButton {
  label: string;
  press: (() => unknown) | undefined;
}

/** The actions that a diagnosis may name, as buttons. */
export function useNextActions(request: RequestPage, onSelect: (stepId: string) => void) {
  const { requestId, plan, version } = request;
  const [, navigate] = useLocation();
  const cancel = useAction(CANCEL);
  const pause = useAction(PAUSE);
  const resume = useAction(RESUME);
  const execute = useAction(EXECUTE_PLAN);
  const rerun = useAction(RERUN);
  const replan = useAction(REPLAN);
  const amend = useAction(AMEND_AS_SUGGESTED);
  const newVersion = () => ({ requestId, fromVersion: version, idempotencyKey: crypto.randomUUID() });
  const [stepKey] = request.diagnosis.stepKeys;
  const show = stepKey === undefined ? undefined : () => onSelect(stepIdOf(stepKey));
  const toDesk = () => navigate(deskPath(requestId));
  const buttons: Readonly<Record<string, NextButton>> = {
    approve: { label: "Look at the call and decide", press: show },
    resolveInDoubt: { label: "Look at the call and say what happened", press: show },
    rerun: {
      label:
        request.status === "FAILED" && (plan === null || plan.status === "INVALID")
          ? "Have it planned again"
          : "Run again what did not complete",
      press: () => rerun.run(newVersion()),
    },
    replan: { label: "Have the rest planned again", press: () => replan.run(newVersion()) },
    submitPlan: {
      label: plan ? "Change the plan at the desk" : "Write a plan at the desk",
      press: toDesk,
    },
    cancel: { label: "Cancel", press: () => cancel.run({ requestId }) },
    fleet: { label: "Look at the fleet", press: () => navigate("/fleet") },
    resume: { label: "Resume", press: () => resume.run({ requestId }) },
    executePlan: {
      label: "Execute the plan",
      press: plan ? () => execute.run({ planId: plan.planId }) : undefined,
    },
  };
  const all: Action<unknown, never>[] = [cancel, pause, resume, execute, rerun, replan, amend];
  return {
    cancel,
    pause,
    isPending: all.some((action) => action.isPending),
    problem: all.find((action) => action.problem)?.problem,
    /** The button of an action; undefined for one that has none here. */
    buttonOf: ({ operation, arguments: given }: Next): NextButton | undefined => {
      // The user has to write a value first.
      if (operation !== "resolveInDoubt" && hasPlaceholder(given))
        return { label: "Change the plan at the desk", press: toDesk };
      const acceptRepeat = operation === "rerun" ? acceptedRepeats(given) : [];
      if (acceptRepeat.length > 0) {
        return {
          label: `Call ${acceptRepeat.join(", ")} once more, and run what did not complete`,
          press: () => rerun.run({ ...newVersion(), acceptRepeat }),
        };
      }
      const amendment = operation === "amendPlan" ? suggestedAmendment(given) : undefined;
      if (!amendment) return buttons[operation];
      return {
        label: amendment.label,
        press: () => amend.run({ ...newVersion(), ...amendment.change }),
      };
    },
  };
}

type Next = RequestPage["diagnosis"]["next"][number];

/** The steps that a suggested rerun calls once more although they may have acted. */
export function acceptedRepeats(given: unknown): string[] {
  const named = isJsonObject(given) ? given["acceptRepeat"] : undefined;
  return Array.isArray(named) ? named.filter((id) => typeof id === "string") : [];
}

/** The id of the step of a key; for an item, of its list. */
export function stepIdOf(key: string): string {
  return key.replace(/\[\d+\]$/, "");
}

/** A new version that a diagnosis suggests, and the label of its button. */
interface SuggestedAmendment {
  label: string;
  /** The arguments that differ between amendments. */
  change: { restoreVersion: number } | { patch: JsonValue };
}

/** Reads the arguments of a suggested amendPlan; undefined if they are something else. */
function suggestedAmendment(given: unknown): SuggestedAmendment | undefined {
  const { restoreVersion = null, patch = null } = isJsonObject(given) ? given : {};
  if (typeof restoreVersion === "number")
    return { label: `Go back to version ${restoreVersion}`, change: { restoreVersion } };
  const [first] = Array.isArray(patch) ? patch : [];
  const tool = isJsonObject(first) ? first["value"] : undefined;
  return typeof tool === "string" ? { label: `Call ${tool} instead`, change: { patch } } : undefined;
}
