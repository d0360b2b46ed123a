import { useLocation } from "wouter";
import { EXECUTE_BY_HASH, type PlanDocument } from "../data/desk-operations.ts";
import { useAction } from "../data/use-action.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";

/** Executes the version that was looked at, by its hash: what is seen is what runs. */
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
        Nothing was executed yet. What you see is what runs, by its hash:{" "}
        <code title={base.planHash ?? ""}>{base.planHash?.slice(0, 16)}…</code>
      </p>
      <button
        type="button"
        className="primary-button"
        disabled={execute.isUnderWay}
        onClick={() => void start()}
      >
        Execute exactly this plan
      </button>
      {execute.problem && <ProblemNote problem={execute.problem} />}
    </>
  );
}
