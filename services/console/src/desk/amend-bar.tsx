import { useLocation } from "wouter";
import { AMEND_PLAN, type Amendment, type DraftFacts, type PlanDocument } from "../data/desk-operations.ts";
import { EXECUTE_PLAN } from "../data/operations.ts";
import { useAction } from "../data/use-action.ts";
import { lookOf, PLAN_LOOK } from "../design/statuses.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";
import type { EditedPlan } from "./editor/plan-editor.tsx";
import type { Check } from "./use-check.ts";

/** A plan that may be changed: it was not started, or has ended. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  "INVALID",
  "READY",
  "COMPLETED",
  "PARTIAL",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
]);

/** Stores the text as the next version of a request, or executes the version that is open as it is. */
export function AmendBar({
  draft,
  base,
  isChanged,
  edited,
  check,
  onOpen,
  onAmended,
}: {
  draft: DraftFacts;
  base: PlanDocument;
  isChanged: boolean;
  edited: EditedPlan;
  check: Check;
  /** Opens another version: what was written is given up. */
  onOpen: (planId: string) => void;
  onAmended: (amendment: Amendment) => void;
}) {
  const amend = useAction(AMEND_PLAN);
  const { requestId, plan } = draft;
  const isNewest = plan?.planId === base.planId;
  if (!isNewest) return <NewerVersion base={base} current={plan} isChanged={isChanged} onOpen={onOpen} />;
  if (!CHANGEABLE.has(plan.status) || draft.status === "PLANNING")
    return (
      <p className="bench-words">
        {draft.status === "PLANNING"
          ? "A next version is being planned. Edits can be stored when planning has ended."
          : `The plan is ${lookOf(PLAN_LOOK, plan.status).word}. Edits can be stored when it has ended or was cancelled.`}
      </p>
    );
  async function store(execute: boolean): Promise<void> {
    const made = await amend.run({
      requestId,
      plan: JSON.parse(edited.text) as never,
      fromVersion: base.version,
      execute,
      idempotencyKey: crypto.randomUUID(),
    });
    if (!made) return;
    onAmended(made.amendPlan);
    onOpen(made.amendPlan.request.planId);
  }
  const canStore = isChanged && check.state === "valid" && !amend.isUnderWay;
  return (
    <>
      {!isChanged && plan.status === "READY" ? (
        <ExecuteThis requestId={requestId} base={base} />
      ) : (
        <>
          <p className="bench-words">
            {isChanged
              ? `Steps that completed and did not change are carried over; the graph shows them with a dashed line.`
              : "Change the text to store another version."}
          </p>
          <button type="button" disabled={!canStore} onClick={() => void store(false)}>
            Store as version {base.version + 1}
          </button>
          <button
            type="button"
            className="primary-button"
            disabled={!canStore}
            onClick={() => void store(true)}
          >
            Store and execute
          </button>
        </>
      )}
      {amend.problem && <ProblemNote problem={amend.problem} />}
    </>
  );
}

function NewerVersion({
  base,
  current,
  isChanged,
  onOpen,
}: {
  base: PlanDocument;
  current: DraftFacts["plan"];
  isChanged: boolean;
  onOpen: (planId: string) => void;
}) {
  if (!current || current.version < base.version)
    return <p className="bench-words">Reading the new version …</p>;
  return (
    <>
      <p className="bench-words">
        Version {current.version} was stored since; version {base.version} can no longer be changed.
        {isChanged && " Copy what you wrote before you open it."}
      </p>
      <button type="button" className="primary-button" onClick={() => onOpen(current.planId)}>
        Open version {current.version}
      </button>
    </>
  );
}

/** Executes the version that was looked at, and no other one. */
function ExecuteThis({ requestId, base }: { requestId: string; base: PlanDocument }) {
  const [, navigate] = useLocation();
  const execute = useAction(EXECUTE_PLAN);
  async function start(): Promise<void> {
    const started = await execute.run({ planId: base.planId });
    if (started) navigate(requestPath({ requestId, version: null, stepId: null, view: "graph" }));
  }
  return (
    <>
      <p className="bench-words">
        Nothing was executed yet. What you see is what runs: <code>{base.planId}</code>
      </p>
      <button
        type="button"
        className="primary-button"
        disabled={execute.isUnderWay}
        onClick={() => void start()}
      >
        Execute this plan
      </button>
      {execute.problem && <ProblemNote problem={execute.problem} />}
    </>
  );
}
