import type { StepRun } from "@planwright/client";
import { lazy, Suspense, useMemo } from "react";
import type { PlanDocument } from "../data/desk-operations.ts";
import type { Diagnostic } from "../parts/diagnostic.ts";
import { type DraftStep, draftSteps } from "./text/draft-steps.ts";
import { keptSteps } from "./text/kept-steps.ts";

const PlanGraph = lazy(async () => ({
  default: (await import("../request/graph/plan-graph.tsx")).PlanGraph,
}));

/**
 * The graph of the edited plan. It marks steps with errors, and steps that a new version would carry over.
 */
export function DraftGraph({
  document,
  base,
  diagnostics,
  selected,
  onSelect,
  isGrowing = false,
}: {
  document: unknown;
  base: PlanDocument | null;
  diagnostics: readonly Diagnostic[];
  selected: string | null;
  onSelect: (stepId: string) => void;
  /** Steps are being added: the whole graph stays in sight. */
  isGrowing?: boolean;
}) {
  const rows = useMemo(() => {
    const wrong = new Set(
      diagnostics.flatMap(({ severity, stepId }) => (severity === "error" ? [stepId] : [])),
    );
    const kept = keptSteps(base?.document, document, completedOf(base));
    return draftSteps(document).map((step) =>
      rowOf(step, {
        status: wrong.has(step.id) ? "FAILED" : kept.has(step.id) ? "COMPLETED" : "PENDING",
        carriedFrom: kept.has(step.id) ? (base?.planId ?? null) : null,
      }),
    );
  }, [document, base, diagnostics]);
  if (rows.length === 0) return <p className="empty">The graph is drawn as soon as a step has an id.</p>;
  return (
    <Suspense fallback={<p className="empty">Drawing the plan …</p>}>
      <PlanGraph steps={rows} selected={selected} onSelect={onSelect} isGrowing={isGrowing} />
    </Suspense>
  );
}

function completedOf(base: PlanDocument | null): Set<string> {
  const steps = base?.steps ?? [];
  return new Set(
    steps.flatMap(({ id, item, status }) => (item === null && status === "COMPLETED" ? [id] : [])),
  );
}

/** A step that never ran, in the shape of the graph. */
function rowOf(
  { id, tool, dependsOn }: DraftStep,
  { status, carriedFrom }: Pick<StepRun, "status" | "carriedFrom">,
): StepRun {
  return {
    id,
    key: id,
    item: null,
    tool: tool === "" ? "no tool yet" : tool,
    status,
    dependsOn,
    carriedFrom,
    waitReason: null,
    effectClass: null,
    effect: null,
    approved: false,
    approvalHash: null,
    warnings: [],
    nextAttemptAt: null,
    expiresAt: null,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    waitedForPeopleMs: null,
    error: null,
    settled: null,
    attempts: [],
  };
}
