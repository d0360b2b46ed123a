import { useLocation } from "wouter";
import { EXECUTE_BY_HASH, type PlanDocument } from "../data/desk-operations.ts";
import { useAction } from "../data/use-action.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";

/** Executes exactly the version that is open, by its hash. */
export function ExecuteThis({ requestId, base }: { requestId: string; base: PlanDocument }) {
  const [, navigate] = useLocation();
  const execute = useAction(EXECUTE_BY_HASH);
  async function start(): Promise<void> {
    const started = await execute.run({ planId: base.planId, planHash: base.planHash });
    if (started) navigate(requestPath({ requestId, version: null, stepId: null, view: "graph" }));
  }
  return (
    <>
      <p className="bench-words">
        Nothing was executed yet. Exactly this plan will be executed; its hash is{" "}
        <code title={base.planHash ?? ""}>{base.planHash?.slice(0, 16)}…</code>
      </p>
      <button
        type="button"
        className="primary-button"
        disabled={execute.isPending}
        onClick={() => void start()}
      >
        Execute exactly this plan
      </button>
      {execute.problem && <ProblemNote problem={execute.problem} />}
    </>
  );
}
