import { setTimeout as delay } from "node:timers/promises";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import {
  createPriceList,
  DraftError,
  type DraftErrorCode,
  type DraftResult,
  directTools,
  NoToolsError,
} from "@planwright/models";
import { ValueMissingError } from "@planwright/offline";
import {
  exactAsText,
  type GapValue,
  type JsonValue,
  type Policy,
  pinTools,
  schemaOfShape,
  seenIn,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import { findMoments, type SaidMoment } from "@planwright/reading";
import { contextOf, type PlanningClaim, type PlanningStore, type WorkerStore } from "@planwright/store";
import { createCallMeter, keptText, postponeIfAway, redactedError } from "../calls/call-meter.ts";
import { askingOf, checkDraft, filledDraft, givenValues, policyOf } from "../drafts/check-draft.ts";
import { askedOf, conversationOf, shownContextOf } from "../drafts/context-of.ts";
import { afterCheck, afterDoubt, invalidPlan, orDoubted, signalOf } from "./next-node.ts";
import {
  type AskParts,
  askForDraft,
  type GraphParts,
  originOf,
  PlanningState,
  toFailure,
} from "./planning-state.ts";

/** Dependencies of the nodes of the graph. */
export interface PlanningParts extends GraphParts {
  store: Pick<
    PlanningStore,
    | "toolCatalogue"
    | "leftOutTools"
    | "recordModelCall"
    | "beginModelCall"
    | "endModelCall"
    | "postponePlanning"
    | "completePlanning"
    | "failPlanning"
    | "askQuestions"
  > &
    Pick<WorkerStore, "liveWorkers">;
  /** How long to wait for an executor that publishes the first tools, in milliseconds. Default: 60,000. */
  catalogueWaitMs?: number | undefined;
}

/**
 * The graph of a first plan: retrieve -> (direct ->)? draft -> validate -> (repair -> validate)* -> store. A
 * direct answer that is a valid plan is stored at once. A draft whose questions were answered continues with
 * retrieve -> fill -> validate.
 * When a planner dies, the next one starts at the beginning, gets the recorded answers, and stores under the
 * same plan id.
 */
export function createPlanningGraph({ prices = createPriceList({}), ...given }: PlanningParts) {
  const parts = { ...given, prices };
  const { store, drafter } = parts;
  const sameCatalogue = createSameCatalogue();
  const path = ({ claim, tools }: PlanningState) => {
    if (claim.request.draft) return "fill";
    return drafter.draftDirectly && toolsForDirectPath(claim, tools) ? "direct" : "draft";
  };
  const ifPlannable = (state: PlanningState) => (state.failure ? "store" : "validate");
  const ifUndecided = (state: PlanningState) => (state.plan ? "store" : ifPlannable(state));

  return new StateGraph(PlanningState)
    .addNode("retrieve", async ({ claim }, config: LangGraphRunnableConfig) => {
      const { tenant } = claim.request;
      const tools = sameCatalogue(await waitForCatalogue(parts, tenant, signalOf(config)), tenant);
      return tools.length > 0
        ? { tools, leftOut: await store.leftOutTools() }
        : { failure: toFailure(new NoToolsError()) };
    })
    .addNode("direct", (state, config: LangGraphRunnableConfig) =>
      planDirectly(parts, state, signalOf(config)),
    )
    .addNode("fill", ({ claim }) => ({ answer: filledDraft(claim.request), isFilled: true }))
    .addNode("draft", (state, config) => ask(parts, state, config, "draft"))
    .addNode("validate", (state) => {
      const checked = state.answer
        ? checkDraft(state.answer, state.tools, askedOf(state.claim.request), {
            leftOut: state.leftOut,
            context: shownContextOf(state.claim.request),
            policy: policyOf(state.claim.request, parts.policy),
            sources: textOfValues(givenValues(state.claim.request)),
          })
        : { plan: null, diagnostics: [], open: null, asks: [] };
      const update = { ...checked, earlierDiagnostics: state.repairs > 0 ? state.diagnostics : null };
      return afterDoubt(state, update, drafter.kind);
    })
    .addNode("repair", async (state, config) => orDoubted(state, await ask(parts, state, config, "repair")))
    .addNode("store", async ({ claim, tools, plan, diagnostics, answer, failure, isFilled, open, asks }) => {
      const raw = answer ? keptText(answer.text) : null;
      const keptOrigin = isFilled ? claim.request.draft?.origin : undefined;
      const origin = keptOrigin ?? originOf(drafter, answer);
      if (plan) {
        const toolPins = pinTools(plan, tools);
        return { stored: await store.completePlanning(claim, { plan, toolPins, raw, origin, diagnostics }) };
      }
      const asking =
        failure && !open
          ? null
          : askingOf({ open, asks, diagnostics }, { request: claim.request, tools, origin });
      if (asking) {
        await store.askQuestions(claim, asking);
        return {};
      }
      const error = redactedError(failure ?? invalidPlan(diagnostics, answer?.text ?? ""));
      await store.failPlanning(claim, { error, diagnostics, raw, plan, origin });
      return { failure: error };
    })
    .addEdge(START, "retrieve")
    .addConditionalEdges("retrieve", (state) => (state.failure ? "store" : path(state)), [
      "store",
      "fill",
      "direct",
      "draft",
    ])
    .addEdge("fill", "validate")
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

/**
 * Argument values must come from the request. Answers of the user count as part of it, in any form that a
 * tool accepts.
 */
const textOfValues = (values: readonly GapValue[]): string | undefined =>
  values.length === 0 ? undefined : values.map(({ value }) => textOf(value)).join("\n");
const textOf = (value: JsonValue) =>
  typeof value === "string" ? exactAsText(value) : stringifyExactJson(value);

async function ask(
  parts: AskParts,
  state: PlanningState,
  config: LangGraphRunnableConfig,
  purpose: "draft" | "repair",
): Promise<Partial<PlanningState>> {
  const { request } = state.claim;
  const query = parts.drafter.kind === "model" ? conversationOf(request) : askedOf(request);
  const { result, repairs } = await askForDraft(parts, state, { purpose, query, signal: signalOf(config) });
  if (!(result instanceof DraftError)) return { answer: result, repairs, isFilled: false };
  return {
    failure: toFailure(result),
    open: result instanceof ValueMissingError ? result.facts.open : null,
    repairs,
    isFilled: false,
  };
}

/**
 * The tools to offer in one plain tool-calling request, or null when the request must be planned. Pure. In
 * addition to the rule of {@link directTools}, a request is planned when its user answered a question, or
 * when its limits leave only one model call (calls of planners that died count). A planner that takes over
 * must choose the same path, because it finds recorded answers by their question.
 */
function toolsForDirectPath(
  { request }: Pick<PlanningClaim, "request">,
  tools: readonly ToolDescriptor[],
): ToolDescriptor[] | null {
  const { answers, modelLimits, modelUse } = request;
  const allowed = modelLimits?.maxModelCalls ?? Number.POSITIVE_INFINITY;
  const mayAskTwice = allowed - (modelUse?.reserved.modelCalls ?? 0) > 1;
  const asked = askedOf(request);
  // A date such as "tomorrow" is not written out in the request; only planning checks its value.
  if (!mayAskTwice || answers.length > 0 || findMoments(asked, contextOf(request)).moments.some(isMoved))
    return null;
  return directTools(asked, tools);
}

/** "the weather today" means the weather now. */
const isMoved = ({ text }: SaidMoment) => text.toLowerCase() !== "today";

/**
 * After these errors the request is planned: a model that fails with offered tools may still be able to plan.
 */
const PLANNED_INSTEAD: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_REFUSED",
  "MODEL_CONTENT_FILTERED",
  "MODEL_ANSWER_TRUNCATED",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * One plain tool-calling request, checked like every draft. Returns a plan, or a failure that planning would
 * also end in; nothing when the request must be planned.
 */
async function planDirectly(
  parts: AskParts & { policy?: Policy | undefined },
  { claim, tools }: Pick<PlanningState, "claim" | "tools">,
  signal: AbortSignal,
): Promise<Partial<PlanningState>> {
  const offered = toolsForDirectPath(claim, tools) ?? [];
  const answer = await askDirectly(parts, { claim, tools: offered, signal });
  if (answer instanceof DraftError) return { failure: toFailure(answer) };
  if (!answer) return {};
  const checked = checkDraft(answer, tools, askedOf(claim.request), {
    context: shownContextOf(claim.request),
    policy: policyOf(claim.request, parts.policy),
  });
  return checked.plan ? { answer, ...checked } : {};
}

async function askDirectly(
  parts: AskParts,
  { claim, tools, signal }: { claim: PlanningClaim; tools: readonly ToolDescriptor[]; signal: AbortSignal },
): Promise<DraftResult | DraftError | null> {
  const meter = createCallMeter(parts, claim, "draft");
  const query = askedOf(claim.request);
  const context = shownContextOf(claim.request);
  try {
    return (await parts.drafter.draftDirectly?.({ query, context, tools, meter, signal })) ?? null;
  } catch (error) {
    if (!(error instanceof DraftError)) throw error;
    return PLANNED_INSTEAD.has(error.code) ? null : postponeIfAway(parts, claim, error);
  }
}

/** Dependencies of {@link waitForCatalogue}. */
interface CatalogueWaitParts {
  store: Pick<PlanningStore, "toolCatalogue"> & Pick<WorkerStore, "liveWorkers">;
  /** How long to wait for an executor that publishes tools, in milliseconds. Default: 60,000. */
  catalogueWaitMs?: number | undefined;
}

const READ_EVERY_MS = 100;
/** A live executor has published its tools after this time, in milliseconds. */
const SETTLE_MS = 2_000;

/**
 * The tools that a tenant's plans may use. While there are none, it waits for an executor: right after a
 * start, executors have not published their tools yet. Empty when a live executor publishes none, or when no
 * tools were published in time. Rejects when the signal is aborted.
 */
export async function waitForCatalogue(
  { store, catalogueWaitMs = 60_000 }: CatalogueWaitParts,
  tenant: string,
  signal: AbortSignal,
): Promise<ToolDescriptor[]> {
  const startedAt = performance.now();
  let liveSince = Number.POSITIVE_INFINITY;
  for (;;) {
    const tools = await store.toolCatalogue(tenant);
    const now = performance.now();
    if (tools.length > 0) return tools;
    const { executor } = await store.liveWorkers();
    liveSince = executor > 0 ? Math.min(liveSince, now) : Number.POSITIVE_INFINITY;
    if (now - liveSince >= SETTLE_MS || now - startedAt >= catalogueWaitMs) return [];
    await delay(READ_EVERY_MS, undefined, { signal });
  }
}

/** Most tenants whose last catalogue is cached; each may have its own shapes of outputs. */
const MAX_TENANTS = 16;
/** Above this number, further outputs of the same shape do not change the catalogue. */
const MANY_OUTPUTS = 3;

/**
 * Returns the same array while nothing in a tenant's catalogue has changed, so that data derived from that
 * array, such as a search index, is made once and not for every request. The count of a field is not a
 * change.
 */
export function createSameCatalogue(): (tools: ToolDescriptor[], tenant?: string) => ToolDescriptor[] {
  const kept = new Map<string, { tools: ToolDescriptor[]; text: string }>();
  return (tools, tenant = "") => {
    const text = JSON.stringify(tools.map(comparable));
    const before = kept.get(tenant);
    const same = before?.text === text ? before : { tools, text };
    kept.delete(tenant);
    kept.set(tenant, same);
    const [oldest] = kept.keys();
    if (kept.size > MAX_TENANTS && oldest !== undefined) kept.delete(oldest);
    return same.tools;
  };
}

function comparable({ observedOutput, ...tool }: ToolDescriptor): unknown {
  if (!observedOutput) return tool;
  const schema = JSON.stringify(schemaOfShape(observedOutput), (key, value) =>
    key === "x-seen" ? undefined : value,
  );
  return [tool, Math.min(seenIn(observedOutput), MANY_OUTPUTS), schema];
}
