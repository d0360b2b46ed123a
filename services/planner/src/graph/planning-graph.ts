import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import {
  createPriceList,
  DraftError,
  type Drafter,
  NoToolsError,
  type PriceList,
  ValueMissingError,
} from "@planwright/models";
import { type Policy, pinTools } from "@planwright/plan";
import type { PlanningStore } from "@planwright/store";
import type { ModelMetrics } from "../metrics/model-metrics.ts";
import { shownContextOf } from "../prompts/context-of.ts";
import { type AskParts, askDrafter, originOf, toFailure } from "./ask-drafter.ts";
import { askedOf, conversationOf } from "./asked-of.ts";
import { checkDraft } from "./check-draft.ts";
import { planDirectly, toolsForDirectPath } from "./direct-path.ts";
import { afterDoubt, orDoubted } from "./doubted-draft.ts";
import { afterCheck, invalidPlan, signalOf } from "./next-node.ts";
import { questionsAboutValues } from "./open-values.ts";
import { PlanningState } from "./planning-state.ts";
import { policyOf } from "./policy-of.ts";
import { keptText } from "./record-of-call.ts";
import { redactedError } from "./redacted-error.ts";
import { createSameCatalogue } from "./same-catalogue.ts";

/** What the nodes of the graph use. */
export interface PlanningParts {
  store: Pick<
    PlanningStore,
    | "toolCatalogue"
    | "recordModelCall"
    | "beginModelCall"
    | "endModelCall"
    | "completePlanning"
    | "failPlanning"
    | "askQuestions"
  >;
  drafter: Drafter;
  /** What models cost. Default: the table of `@planwright/models`. */
  prices?: PriceList;
  /** Of the plans whose callers ask for none. Default: the default policy. */
  policy?: Policy;
  /** Default: nothing is counted. */
  metrics?: ModelMetrics | undefined;
  /** Hears of answers that a planner that died was given, and that are used again. */
  onReuse?: AskParts["onReuse"];
}

/**
 * retrieve -> (direct ->)? draft -> validate -> (repair -> validate)* -> store; a direct answer that is a valid plan is stored at once.
 * A planner that dies is followed by one that starts at the beginning, is given the answers that were recorded, and stores under the same
 * plan id.
 */
export function createPlanningGraph(parts: PlanningParts) {
  const { store, drafter } = parts;
  const sameCatalogue = createSameCatalogue();
  const path = ({ claim, tools }: PlanningState) =>
    drafter.draftDirectly && toolsForDirectPath(claim, tools) ? "direct" : "draft";
  const ifPlannable = (state: PlanningState) => (state.failure ? "store" : "validate");
  const ifUndecided = (state: PlanningState) => (state.plan ? "store" : ifPlannable(state));

  return new StateGraph(PlanningState)
    .addNode("retrieve", async ({ claim }) => {
      const { tenant } = claim.request;
      const tools = sameCatalogue(await store.toolCatalogue(tenant), tenant);
      return tools.length > 0 ? { tools } : { failure: toFailure(new NoToolsError()) };
    })
    .addNode("direct", (state, config: LangGraphRunnableConfig) =>
      planDirectly({ prices: createPriceList({}), ...parts }, state, signalOf(config)),
    )
    .addNode("draft", (state, config) => ask(parts, state, config, "draft"))
    .addNode("validate", (state) => {
      const checked = state.answer
        ? checkDraft(state.answer, state.tools, askedOf(state.claim.request), {
            context: shownContextOf(state.claim.request),
            policy: policyOf(state.claim.request, parts.policy),
          })
        : { plan: null, diagnostics: [] };
      const update = { ...checked, earlierDiagnostics: state.repairs > 0 ? state.diagnostics : null };
      return afterDoubt(state, update, drafter.kind);
    })
    .addNode("repair", async (state, config) => orDoubted(state, await ask(parts, state, config, "repair")))
    .addNode("store", async ({ claim, tools, plan, diagnostics, answer, failure, questions }) => {
      const raw = answer ? keptText(answer.text) : null;
      const origin = originOf(drafter, answer);
      if (plan) {
        const toolPins = pinTools(plan, tools);
        return { stored: await store.completePlanning(claim, { plan, toolPins, raw, origin, diagnostics }) };
      }
      const asked = questions.length > 0 || failure ? questions : questionsAboutValues(diagnostics);
      if (asked.length > 0) {
        await store.askQuestions(claim, asked);
        return {};
      }
      const error = redactedError(failure ?? invalidPlan(diagnostics));
      await store.failPlanning(claim, { error, diagnostics, raw, plan, origin });
      return { failure: error };
    })
    .addEdge(START, "retrieve")
    .addConditionalEdges("retrieve", (state) => (state.failure ? "store" : path(state)), [
      "store",
      "direct",
      "draft",
    ])
    .addConditionalEdges("direct", (state) => (state.plan || state.failure ? "store" : "draft"), [
      "store",
      "draft",
    ])
    .addConditionalEdges("draft", ifPlannable, ["store", "validate"])
    .addConditionalEdges("validate", (state) => afterCheck(state, drafter.kind), ["repair", "store"])
    .addConditionalEdges("repair", ifUndecided, ["store", "validate"])
    .addEdge("store", END)
    .compile();
}

const questionsOf = (error: DraftError): string[] =>
  error instanceof ValueMissingError ? error.facts.questions.map(({ question }) => question) : [];

async function ask(
  { prices = createPriceList({}), ...parts }: PlanningParts,
  { claim, tools, answer, diagnostics, ...state }: PlanningState,
  config: LangGraphRunnableConfig,
  purpose: "draft" | "repair",
): Promise<Partial<PlanningState>> {
  const isRepair = purpose === "repair";
  const result = await askDrafter(
    { ...parts, prices },
    {
      claim,
      purpose,
      query: parts.drafter.kind === "model" ? conversationOf(claim.request) : askedOf(claim.request),
      context: shownContextOf(claim.request),
      tools,
      repair: isRepair ? { previous: answer?.text ?? "", diagnostics } : undefined,
      signal: signalOf(config),
    },
  );
  const repairs = isRepair ? state.repairs + 1 : state.repairs;
  if (result instanceof DraftError)
    return { failure: toFailure(result), questions: questionsOf(result), repairs };
  return { answer: result, repairs };
}
