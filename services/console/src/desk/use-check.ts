import type { ResultOf } from "@planwright/client";
import { useEffect, useState } from "react";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import { VALIDATE_PLAN } from "../data/desk-operations.ts";
import type { Finding } from "../parts/finding.ts";
import type { EditedPlan } from "./editor/plan-editor.tsx";

/** Rest of the keyboard before a text is checked, in milliseconds. */
const REST_MS = 400;

/** What is known of a text. */
export interface Check {
  /** `fault`: it is no JSON. */
  state: "empty" | "checking" | "fault" | "invalid" | "valid" | "unknown";
  /** Of the newest text that was checked. */
  findings: readonly Finding[];
  /** In canonical form, while it is valid. */
  plan: unknown;
  /** Why it could not be checked. */
  problem: ApiProblem | null;
}

const NONE: Check = { state: "empty", findings: [], plan: null, problem: null };

/** Checks a plan while it is written, whenever the keyboard rests. */
export function useCheck({ text, fault }: EditedPlan): Check {
  const client = useClient();
  const [check, setCheck] = useState<Check>(NONE);
  useEffect(() => {
    if (isBlank(text)) {
      setCheck(NONE);
      return;
    }
    setCheck((before) => ({ ...before, state: "checking" }));
    const left = new AbortController();
    async function ask(): Promise<void> {
      if (fault !== null) {
        setCheck({ ...NONE, state: "fault" });
        return;
      }
      try {
        const variables = { plan: JSON.parse(text) as never };
        const { validatePlan } = await client.execute(VALIDATE_PLAN, variables, { signal: left.signal });
        setCheck(checkOf(validatePlan));
      } catch (error) {
        if (!left.signal.aborted) setCheck({ ...NONE, state: "unknown", problem: problemOf(error) });
      }
    }
    const timer = setTimeout(() => void ask(), REST_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [client, text, fault]);
  return check;
}

/** True for a text without a step, as a new plan begins: it is not wrong yet. */
function isBlank(text: string): boolean {
  return ["", '{"steps":[]}'].includes(text.replaceAll(/\s/gu, ""));
}

function checkOf({ valid, plan, diagnostics }: ResultOf<typeof VALIDATE_PLAN>["validatePlan"]): Check {
  return {
    state: valid ? "valid" : "invalid",
    findings: diagnostics as Finding[],
    plan,
    problem: null,
  };
}
