import type { ResultOf } from "@planwright/client";
import { scanReferences } from "@planwright/plan";
import type { VersionDocument } from "../data/read-document.ts";
import { type PlanFacts, type StepRow } from "../data/request-facts.ts";
import type { READ_DRAFTS, READ_STEP } from "../data/request-operations.ts";
import { type Fields, fieldsOf } from "./fields.ts";

type StepDetails = NonNullable<ResultOf<typeof READ_STEP>["plan"]>["stepsConnection"]["nodes"][number];

type Draft = NonNullable<ResultOf<typeof READ_DRAFTS>["request"]>["plansConnection"]["nodes"][number];

/** A version of a plan in a bundle, in the shape of the API's answers. */
export interface BundledPlan {
  facts: PlanFacts;
  document: VersionDocument;
  draft: Draft;
  detailsOf: (stepId: string) => StepDetails[];
}

/** Reads a version of a plan. */
export function readPlan(plan: Fields): BundledPlan {
  const planned = new Map(
    (plan.object("plan")?.list("steps") ?? []).map((step) => [step.text("id") ?? "", step]),
  );
  const steps = plan.list("steps").map((step) => readStep(step, planned));
  const facts = planFacts(plan, steps);
  return {
    facts,
    document: { version: facts.version, document: plan.value("plan"), steps },
    draft: {
      version: facts.version,
      origin: { kind: facts.origin.kind },
      raw: plan.text("raw"),
      document: plan.value("plan"),
      diagnostics: plan.list("diagnostics").map(readDiagnostic),
    },
    detailsOf: (stepId) =>
      plan
        .list("steps")
        .filter((step) => step.text("stepId") === stepId)
        .map((step) => readDetails(step, planned.get(stepId))),
  };
}

function readDiagnostic(diagnostic: Fields): Draft["diagnostics"][number] {
  return {
    code: diagnostic.text("code") ?? "UNKNOWN",
    severity: diagnostic.text("severity") === "warning" ? "warning" : "error",
    stepId: diagnostic.text("stepId"),
    path: diagnostic.text("path"),
    message: diagnostic.text("message") ?? "",
    suggestion: diagnostic.text("suggestion"),
  };
}

function planFacts(plan: Fields, steps: StepRow[]): PlanFacts {
  const counted = (...statuses: string[]) =>
    steps.filter(({ item, status }) => item === null && statuses.includes(status)).length;
  return {
    planId: plan.text("_id") ?? "",
    version: plan.number("version") ?? 1,
    // An unknown status is shown by its name.
    status: (plan.text("status") ?? "INVALID") as PlanFacts["status"],
    waitReason: plan.text("waitReason"),
    executor: null,
    origin: {
      kind: plan.object("origin")?.text("kind") ?? "submitted",
      model: plan.object("origin")?.text("model") ?? null,
    },
    createdAt: plan.text("createdAt") ?? "",
    queuedAt: plan.text("queuedAt"),
    startedAt: plan.text("startedAt"),
    finishedAt: plan.text("finishedAt"),
    durationMs: plan.number("durationMs"),
    waitedForPeopleMs: plan.number("waitedForPeopleMs"),
    deadlineAt: plan.text("deadlineAt"),
    expiresAt: null,
    cancelRequestedAt: plan.text("cancelRequestedAt"),
    pauseRequestedAt: plan.text("pauseRequestedAt"),
    error: readError(plan.object("error")),
    counts: {
      total: steps.filter(({ item }) => item === null).length,
      completed: counted("COMPLETED"),
      failed: counted("FAILED"),
      skipped: counted("SKIPPED"),
      cancelled: counted("CANCELLED"),
      inDoubt: counted("IN_DOUBT"),
      running: counted("RUNNING", "RETRYING"),
      pending: counted("PENDING", "WAITING_APPROVAL"),
    },
    diagnostics: [],
    steps,
  };
}

/** A recorded error; its remedy is not recorded. */
export function readError(error: Fields | null): StepRow["error"] {
  if (!error) return null;
  return {
    code: error.text("code") ?? "UNKNOWN",
    message: error.text("message") ?? "",
    retryable: error.isTrue("retryable"),
    remedy: "",
  };
}

function readStep(step: Fields, planned: ReadonlyMap<string, Fields>): StepRow {
  const id = step.text("stepId") ?? "";
  return {
    id,
    key: step.text("key") ?? id,
    item: step.number("item"),
    tool: step.text("tool") ?? "",
    status: (step.text("status") ?? "PENDING") as StepRow["status"],
    dependsOn: dependenciesOf(planned.get(id), planned),
    waitReason: step.text("waitReason"),
    effectClass: step.text("effectClass"),
    effect: step.text("effect"),
    approved: step.isTrue("approved"),
    approvalHash: step.text("approvalHash"),
    carriedFrom: step.text("carriedFrom"),
    warnings: step.texts("warnings"),
    nextAttemptAt: step.text("nextAttemptAt"),
    expiresAt: step.text("expiresAt"),
    startedAt: step.text("startedAt"),
    finishedAt: step.text("finishedAt"),
    durationMs: step.number("durationMs"),
    waitedForPeopleMs: step.number("waitedForPeopleMs"),
    error: readError(step.object("error")),
    settled: null,
    attempts: step.list("attempts").map((attempt) => ({
      attempt: attempt.number("attempt") ?? 1,
      attemptId: attempt.text("attemptId") ?? "",
      executor: attempt.text("executor") ?? "",
      startedAt: attempt.text("startedAt") ?? "",
      endedAt: attempt.text("endedAt"),
      durationMs: attempt.number("durationMs"),
      outcome: attempt.text("outcome"),
      error: readError(attempt.object("error")),
      unsent: null,
    })),
  };
}

/** The steps that a step waits for: those in `dependsOn`, and those that its references name. */
function dependenciesOf(step: Fields | undefined, planned: ReadonlyMap<string, Fields>): string[] {
  if (!step) return [];
  const ownId = step.text("id");
  const referenced = scanReferences(step.record).map(({ root }) => root);
  const named = new Set([...step.texts("dependsOn"), ...referenced]);
  return [...named].filter((id) => planned.has(id) && id !== ownId);
}

function readDetails(step: Fields, planned: Fields | undefined): StepDetails {
  const preview = step.object("argumentsPreview");
  const output = fieldsOf(step.value("output"));
  const ref = output.text("ref");
  const isLarge = ref !== null && output.number("sizeBytes") !== null;
  return {
    key: step.text("key") ?? "",
    arguments: planned?.value("arguments") ?? planned?.value("forEach") ?? null,
    resolvedArguments: step.value("arguments"),
    resolvedArgumentsPreview: preview && {
      sizeBytes: preview.number("sizeBytes") ?? 0,
      text: preview.text("text") ?? "",
    },
    output: isLarge ? null : step.value("output"),
    outputReference: isLarge
      ? { ref, sizeBytes: output.number("sizeBytes"), preview: output.text("preview") ?? "" }
      : null,
  };
}
