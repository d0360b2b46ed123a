import { parseExactJson } from "@planwright/plan";
import { useLocation } from "wouter";
import {
  AMEND_PLAN,
  type Amendment,
  type DeskPlan,
  type DraftFacts,
  EXECUTE_BY_HASH,
} from "../data/desk-operations.ts";
import { useAction } from "../data/use-api.ts";
import { ProblemNote } from "../parts/elements.tsx";
import { lookOf, PLAN_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import type { BenchState } from "./bench.tsx";

/** Statuses of plans that can be changed: not started, or ended. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  "INVALID",
  "READY",
  "COMPLETED",
  "PARTIAL",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
]);

/** The props of the bar. */
interface AmendBarProps extends BenchState {
  draft: DraftFacts;
  base: DeskPlan;
  isChanged: boolean;
  /** Opens another version; the edits are lost. */
  onOpen: (planId: string) => void;
  onAmended: (amendment: Amendment) => void;
}

/** Stores the text as the next version of a request, or executes the open version unchanged. */
export function AmendBar(props: AmendBarProps) {
  const { draft, base, isChanged, effects, onOpen } = props;
  const { requestId, plan, status } = draft;
  if (plan?.planId !== base.planId)
    return <NewerVersion base={base} current={plan} isChanged={isChanged} onOpen={onOpen} />;
  if (status === "PLANNING")
    return (
      <p className="bench-words">
        A new version is being planned. Edits can be stored when planning has ended.
      </p>
    );
  if (!CHANGEABLE.has(plan.status))
    return (
      <p className="bench-words">
        The plan is {lookOf(PLAN_LOOK, plan.status).word}. Edits can be stored when it has ended or was
        cancelled.
      </p>
    );
  if (!isChanged && plan.status === "READY")
    return <ExecuteThis requestId={requestId} base={base} effects={effects} />;
  return <StoreVersion {...props} />;
}

function StoreVersion(props: AmendBarProps) {
  const { draft, base, isChanged, edited, check, effects, forget, onOpen, onAmended } = props;
  const amend = useAction(AMEND_PLAN);
  async function store(execute: boolean): Promise<void> {
    const made = await amend.run({
      requestId: draft.requestId,
      plan: parseExactJson(edited.text) as never,
      fromVersion: base.version,
      execute,
      idempotencyKey: crypto.randomUUID(),
    });
    if (!made) return;
    forget();
    onAmended(made.amendPlan);
    onOpen(made.amendPlan.request.planId);
  }
  const canStore = isChanged && check.state === "valid" && !amend.isPending;
  return (
    <>
      <p className="bench-words">
        {isChanged
          ? "Steps that completed and did not change are carried over; the graph shows them with a dashed line."
          : "Change the text to store another version."}
        {isChanged && effects !== "" && <EffectsLine effects={effects} />}
      </p>
      <button type="button" disabled={!canStore} onClick={() => void store(false)}>
        Store as version {base.version + 1}
      </button>
      <button type="button" className="primary-button" disabled={!canStore} onClick={() => void store(true)}>
        Store and execute
      </button>
      {amend.problem && <ProblemNote problem={amend.problem} />}
    </>
  );
}

/** What the plan will do when it is executed. */
export function EffectsLine({ effects }: { effects: string }) {
  return (
    <strong className="bench-effects" role="status">
      {effects}
    </strong>
  );
}

/** Tells the user that a newer version was stored, and opens it. */
function NewerVersion({
  base,
  current,
  isChanged,
  onOpen,
}: {
  base: DeskPlan;
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

/** Executes exactly the version that is open, by its hash. */
function ExecuteThis({ requestId, base, effects }: { requestId: string; base: DeskPlan; effects: string }) {
  const [, navigate] = useLocation();
  const execute = useAction(EXECUTE_BY_HASH);
  async function start(): Promise<void> {
    const started = await execute.run({ planId: base.planId, planHash: base.planHash });
    if (started) navigate(requestPath({ requestId, version: null, stepId: null, view: null }));
  }
  return (
    <>
      <p className="bench-words">
        Nothing was executed yet. Exactly this plan will be executed; its hash is{" "}
        <code title={base.planHash ?? ""}>{base.planHash?.slice(0, 16)}…</code>
        {effects !== "" && <EffectsLine effects={effects} />}
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
