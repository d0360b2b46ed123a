import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { createPriceList, DraftError, NoToolsError } from "@planwright/models";
import { catalogueOfPlan, createToolIndex, pinsByTool, pinTools } from "@planwright/plan";
import {
  EntryTooLargeError,
  type PlanDocument,
  type PlanningStore,
  type RecordedError,
} from "@planwright/store";
import { keptText, redactedError } from "../calls/call-meter.ts";
import { checkReplan, toPastPlan, toReplanRequest } from "../drafts/check-replan.ts";
import { askedOf, conversationOf, shownContextOf } from "../drafts/context-of.ts";
import { afterCheck, afterDoubt, invalidPlan, orDoubted, signalOf } from "./next-node.ts";
import {
  type AskParts,
  askForDraft,
  type GraphParts,
  originOf,
  ReplanningState,
  toFailure,
} from "./planning-state.ts";

/** Dependencies of the nodes of the graph. */
export interface ReplanningParts extends GraphParts {
  store: AskParts["store"] &
    Pick<
      PlanningStore,
      "toolCatalogue" | "leftOutTools" | "readPlanRecord" | "completeReplan" | "failReplan"
    >;
}

/**
 * The graph of a replan: read -> draft -> validate -> (repair -> validate)* -> store, as for a first plan,
 * but with the results of the plan that failed. When a planner dies, the next one starts at the beginning and
 * gets the recorded answers; only one version is stored.
 */
export function createReplanningGraph({ prices = createPriceList({}), ...given }: ReplanningParts) {
  const parts = { ...given, prices };
  const { store, drafter } = parts;
  const ifPlannable = (state: ReplanningState) => (state.failure ? "store" : "validate");
  const ifUndecided = (state: ReplanningState) => (state.plan ? "store" : ifPlannable(state));

  return new StateGraph(ReplanningState)
    .addNode("read", async ({ claim }) => {
      const [record, catalogue, leftOut] = await Promise.all([
        store.readPlanRecord(claim),
        store.toolCatalogue(claim.request.tenant),
        store.leftOutTools(),
      ]);
      if (!record) return { failure: NOTHING_FAILED };
      if (record.units.some(({ status }) => status === "IN_DOUBT")) return { record, failure: IN_DOUBT };
      const { plan, toolPins } = record.plan;
      const tools = [...catalogueOfPlan(plan, createToolIndex(catalogue), pinsByTool(toolPins))];
      return tools.length > 0
        ? { record, tools, leftOut }
        : { record, failure: toFailure(new NoToolsError()) };
    })
    .addNode("draft", (state, config) => ask(parts, state, config, "replan"))
    .addNode("validate", (state) => {
      const { answer, record, tools, leftOut, claim, repairs, diagnostics } = state;
      const userText = [askedOf(claim.request), claim.request.replan?.note ?? ""].join("\n");
      const checked =
        answer && record
          ? checkReplan(answer, toPastPlan(record), {
              tools,
              leftOut,
              said: userText,
              context: shownContextOf(claim.request),
              replannedEffects: parts.policy?.replannedEffects,
            })
          : { plan: null, diagnostics: [] };
      const update = { ...checked, earlierDiagnostics: repairs > 0 ? diagnostics : null };
      return afterDoubt(state, update, drafter.kind);
    })
    .addNode("repair", async (state, config) => orDoubted(state, await ask(parts, state, config, "repair")))
    .addNode("store", async ({ claim, plan, tools, record, diagnostics, answer, failure }) => {
      if (plan) {
        const raw = answer ? keptText(answer.text) : null;
        const toolPins = pinTools(plan, tools, record?.plan.toolPins);
        const result = { plan, toolPins, raw, origin: originOf(drafter, answer), diagnostics };
        const stored = await orTooLarge(store.completeReplan(claim, result));
        if (!("code" in stored)) return { stored };
        await store.failReplan(claim, { error: stored, diagnostics });
        return { failure: stored };
      }
      const error = redactedError(failure ?? invalidPlan(diagnostics, answer?.text ?? ""));
      await store.failReplan(claim, { error, diagnostics });
      return { failure: error };
    })
    .addEdge(START, "read")
    .addConditionalEdges("read", (state) => (state.failure ? "store" : "draft"), ["store", "draft"])
    .addConditionalEdges("draft", ifPlannable, ["store", "validate"])
    .addConditionalEdges("validate", (state) => afterCheck(state, drafter.kind), ["repair", "store"])
    .addConditionalEdges("repair", ifUndecided, ["store", "validate"])
    .addEdge("store", END)
    .compile();
}

const NOTHING_FAILED = { code: "PLAN_MISSING", message: "There is no plan that could be replanned" };

/** The goal when a plan was submitted without a sentence. */
const GOAL_OF_PLAN = "Do what the plan in <run> was made to do.";

/** A replan could repeat a step that already had its effect. */
const IN_DOUBT = {
  code: "IN_DOUBT",
  message:
    "It is not known whether some steps of the plan had their effect, so no other plan is made. Settle each of them with resolveInDoubt, then use replan or rerun",
};

/**
 * The stored version, or why it cannot be stored. In that case nothing was stored, and a retry would fail in
 * the same way.
 */
async function orTooLarge(storing: Promise<PlanDocument>): Promise<PlanDocument | RecordedError> {
  try {
    return await storing;
  } catch (error) {
    if (!(error instanceof EntryTooLargeError)) throw error;
    const { sizeBytes, maxBytes } = error.facts;
    return {
      code: "PLAN_TOO_LARGE",
      message: `The new version carries over so many items that its entry has ${sizeBytes} bytes; at most ${maxBytes} can be stored`,
    };
  }
}

async function ask(
  parts: AskParts,
  state: ReplanningState,
  config: LangGraphRunnableConfig,
  purpose: "replan" | "repair",
): Promise<Partial<ReplanningState>> {
  const { claim, record } = state;
  const { request } = claim;
  const { result, repairs } = await askForDraft(parts, state, {
    purpose,
    query: conversationOf(request) || GOAL_OF_PLAN,
    replan: record ? toReplanRequest(toPastPlan(record), request.replan?.note ?? null) : undefined,
    signal: signalOf(config),
  });
  return result instanceof DraftError ? { failure: toFailure(result), repairs } : { answer: result, repairs };
}
