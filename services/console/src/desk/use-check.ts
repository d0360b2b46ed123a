import type { ResultOf } from "@planwright/client";
import { parseExactJson } from "@planwright/plan";
import { useEffect, useState } from "react";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import { VALIDATE_PLAN } from "../data/desk-operations.ts";
import type { Diagnostic } from "../parts/diagnostic.ts";
import type { EditedPlan } from "./editor/plan-editor.tsx";

/** Pause in typing before a text is checked, in milliseconds. */
const PAUSE_MS = 400;

/** The result of checking a text. */
export interface Check {
  /** `fault`: the text is not JSON. */
  state: "empty" | "checking" | "fault" | "invalid" | "valid" | "unknown";
  /** The diagnostics of the newest text that was checked. */
  diagnostics: readonly Diagnostic[];
  /** The plan in canonical form, while it is valid. */
  plan: unknown;
  /** Why the text could not be checked. */
  problem: ApiProblem | null;
}

const NONE: Check = { state: "empty", diagnostics: [], plan: null, problem: null };

/** Checks a plan at each pause in typing. */
export function useCheck({ text, fault }: EditedPlan): Check {
  const client = useClient();
  const [check, setCheck] = useState<Check>(NONE);
  useEffect(() => {
    if (isBlank(text)) {
      setCheck(NONE);
      return;
    }
    setCheck((before) => ({ ...before, state: "checking" }));
    const controller = new AbortController();
    async function validate(): Promise<void> {
      if (fault !== null) {
        setCheck({ ...NONE, state: "fault" });
        return;
      }
      try {
        const variables = { plan: parseExactJson(text) as never };
        const { validatePlan } = await client.execute(VALIDATE_PLAN, variables, {
          signal: controller.signal,
        });
        setCheck(checkOf(validatePlan));
      } catch (error) {
        if (!controller.signal.aborted) setCheck({ ...NONE, state: "unknown", problem: problemOf(error) });
      }
    }
    const timer = setTimeout(() => void validate(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [client, text, fault]);
  return check;
}

/** True for a text without a step, such as a new plan: it is not invalid yet. */
function isBlank(text: string): boolean {
  return ["", '{"steps":[]}'].includes(text.replaceAll(/\s/gu, ""));
}

function checkOf({ valid, plan, diagnostics }: ResultOf<typeof VALIDATE_PLAN>["validatePlan"]): Check {
  return {
    state: valid ? "valid" : "invalid",
    diagnostics: diagnostics as Diagnostic[],
    plan,
    problem: null,
  };
}
