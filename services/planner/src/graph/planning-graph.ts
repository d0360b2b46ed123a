import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import {
  DraftError,
  type Drafter,
  type DraftInput,
  NoToolsError,
  toolsForPrompt,
  ValueMissingError,
} from "@planwright/models";
import type { PlanningStore, PlanOrigin } from "@planwright/store";
import { askedOf } from "./asked-of.ts";
import { checkDraft } from "./check-draft.ts";
import { invalidPlan, mayRepair } from "./next-node.ts";
import { PlanningState } from "./planning-state.ts";
import { MAX_KEPT, recordOfCall } from "./record-of-call.ts";
import { createSameCatalogue } from "./same-catalogue.ts";

/** What the nodes of the graph use. */
export interface PlanningParts {
  store: Pick<
    PlanningStore,
    "toolCatalogue" | "recordModelCall" | "completePlanning" | "failPlanning" | "askQuestions"
  >;
  drafter: Drafter;
}

/**
 * retrieve -> draft -> validate -> (repair -> validate)* -> store.
 * Nothing is kept between runs: a planner that dies is followed by one that starts at the beginning and stores under the same plan id.
 */
export function createPlanningGraph(parts: PlanningParts) {
  const { store, drafter } = parts;
  const origin = originOf(drafter);
  const sameCatalogue = createSameCatalogue();
  const ifPlannable = (state: PlanningState) => (state.failure ? "store" : "validate");

  return new StateGraph(PlanningState)
    .addNode("retrieve", async () => {
      const tools = sameCatalogue(await store.toolCatalogue());
      return tools.length > 0 ? { tools } : { failure: toFailure(new NoToolsError()) };
    })
    .addNode("draft", (state, config) => ask(parts, state, config, "draft"))
    .addNode("validate", (state) => {
      const checked = state.answer
        ? checkDraft(state.answer, state.tools, askedOf(state.claim.request))
        : { plan: null, diagnostics: [] };
      return { ...checked, earlierDiagnostics: state.repairs > 0 ? state.diagnostics : null };
    })
    .addNode("repair", (state, config) => ask(parts, state, config, "repair"))
    .addNode("store", async ({ claim, plan, diagnostics, answer, failure, questions }) => {
      const raw = answer?.text.slice(0, MAX_KEPT) ?? null;
      if (plan) return { stored: await store.completePlanning(claim, { plan, raw, origin, diagnostics }) };
      if (questions.length > 0) {
        await store.askQuestions(claim, questions);
        return {};
      }
      const error = failure ?? invalidPlan(diagnostics);
      await store.failPlanning(claim, { error, diagnostics, raw, plan, origin });
      return { failure: error };
    })
    .addEdge(START, "retrieve")
    .addConditionalEdges("retrieve", (state) => (state.failure ? "store" : "draft"), ["store", "draft"])
    .addConditionalEdges("draft", ifPlannable, ["store", "validate"])
    .addConditionalEdges(
      "validate",
      (state) => (!state.plan && !state.failure && mayRepair(state, drafter.kind) ? "repair" : "store"),
      ["repair", "store"],
    )
    .addConditionalEdges("repair", ifPlannable, ["store", "validate"])
    .addEdge("store", END)
    .compile();
}

const originOf = (drafter: Drafter): PlanOrigin =>
  drafter.kind === "model" ? { kind: "model", model: drafter.name } : { kind: "offline", model: null };

const toFailure = ({ code, message }: DraftError) => ({ code, message });

const questionsOf = (error: DraftError): string[] =>
  error instanceof ValueMissingError ? error.facts.questions.map(({ question }) => question) : [];

/** One call of the drafter, recorded whether it succeeds or fails. */
async function ask(
  { store, drafter }: PlanningParts,
  state: PlanningState,
  config: LangGraphRunnableConfig,
  purpose: "draft" | "repair",
): Promise<Partial<PlanningState>> {
  const { request } = state.claim;
  const repair: DraftInput["repair"] =
    purpose === "repair" ? { previous: state.answer?.text ?? "", diagnostics: state.diagnostics } : undefined;
  const signal = config.signal ?? new AbortController().signal;
  const query = askedOf(request);
  const whole = { query, tools: state.tools, repair };
  // Rules look at every tool; a prompt has room for some. What comes back is checked against the whole catalogue.
  const tools = drafter.kind === "model" ? toolsForPrompt(whole).tools : state.tools;
  const result = await drafter.draft({ query, tools, repair, signal }).catch((error: unknown) => {
    if (error instanceof DraftError) return error;
    throw error;
  });
  await store.recordModelCall(recordOfCall({ request, drafter, purpose, result }));
  const repairs = purpose === "repair" ? state.repairs + 1 : state.repairs;
  if (result instanceof DraftError)
    return { failure: toFailure(result), questions: questionsOf(result), repairs };
  return { answer: result, repairs };
}
