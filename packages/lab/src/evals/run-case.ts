import type { Drafter } from "@planwright/models";
import { ValueMissingError } from "@planwright/offline";
import { createPlanRequest } from "../../../../services/planner/src/jobs/plan-request.ts";
import { createPlanningWork } from "../../../../services/planner/src/jobs/planning-work.ts";
import {
  createMemoryPlanningStore,
  heldIn,
  type MemoryPlanningStore,
} from "../../../../services/planner/test/memory-planning-store.ts";
import type { Ending, EvalCase } from "./cases/eval-case.ts";
import type { Grade } from "./grade.ts";

/** The result of planning a case. */
export interface Played {
  ending: Ending;
  /** Calls of the model, failed ones included. */
  calls: number;
  repairs: number;
  /** Number of the stored plan's warnings about references that contradict outputs of earlier runs. */
  doubts: number;
  /** Tokens as the provider counts them; 0 when it does not. */
  inputTokens: number;
  outputTokens: number;
}

/** Plans one request with the planner's graph and a store in memory. */
export async function runCase(
  { query, context, tools }: Pick<EvalCase, "query" | "context" | "tools">,
  drafter: Drafter,
): Promise<Played> {
  const store = createMemoryPlanningStore({ query, tools: [...tools], ...(context && { context }) });
  const missing = new Set<string>();
  const planRequest = createPlanRequest({
    held: heldIn(store),
    work: createPlanningWork({ store, drafter: collectingMissing(drafter, missing) }),
    offerExecution: () => {},
  });
  await planRequest(store.request._id, new AbortController().signal);
  const calls = drafter.kind === "model" ? store.calls : [];
  const sum = (of: (call: (typeof calls)[number]) => number | null) =>
    calls.reduce((total, call) => total + (of(call) ?? 0), 0);
  return {
    ending: endingOf(store, missing),
    calls: calls.length,
    repairs: calls.filter(({ purpose }) => purpose === "repair").length,
    doubts: (store.plans.at(0)?.diagnostics ?? []).filter(({ observedIn }) => observedIn !== undefined)
      .length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
  };
}

/** Wraps a drafter to collect missing parameters, because the stored questions are plain text. */
function collectingMissing(drafter: Drafter, missing: Set<string>): Drafter {
  return {
    ...drafter,
    draft: (input) =>
      drafter.draft(input).catch((error: unknown) => {
        if (error instanceof ValueMissingError) {
          for (const { tool, parameter } of error.facts.missing) missing.add(`${tool}.${parameter}`);
        }
        throw error;
      }),
  };
}

function endingOf(store: MemoryPlanningStore, missing: ReadonlySet<string>): Ending {
  const plan = store.plans.at(0)?.plan;
  if (plan) return { type: "plan", plan };
  if (store.request.status === "NEEDS_INPUT") return { type: "questions", missing: [...missing].toSorted() };
  return { type: "refusal", code: store.failures.at(0)?.error.code ?? "NOTHING_STORED" };
}

/** A case that was played and graded. */
export interface GradedCase {
  id: string;
  source: string;
  domain: string;
  wanted: Ending;
  played: Played;
  grade: Grade;
}
