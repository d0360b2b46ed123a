import type { JsonObject, JsonValue } from "@planwright/plan";
import {
  answer,
  type BehaviourInput,
  type ModelScript,
  type ScriptedReply,
  type ScriptInput,
} from "@planwright/testing";
import {
  chain,
  diamond,
  drawItemCondition,
  drawListOptions,
  fanIn,
  type GraphStep,
  scattered,
} from "../random/plan-shapes.ts";
import type { Random } from "../random/random.ts";
import {
  CHAOS_TOOLS,
  type ChaosPlan,
  type ChaosStep,
  indexInText,
  labelOf,
  STEP_TIMEOUT_MS,
  TENANTS,
} from "./chaos-plan.ts";

const SHAPES = ["chain", "diamond", "wide", "forEach", "lists", "mixed"] as const;
/** The share of the plans that a planner makes with its model. */
const QUERY_SHARE = 0.25;
const RETRY = { maxAttempts: 6, initialMs: 200, maxMs: 2_000 };
/** Few attempts, for items that should sometimes fail. */
const BRIEF_RETRY = { maxAttempts: 2, initialMs: 100, maxMs: 500 };
const LIST_TOOLS = ["item_read", "item_keyed", "item_plain", "batch_read", "batch_keyed"] as const;

const TOOL_WEIGHTS = [
  [29, "keyed_effect"],
  [18, "looked_up_effect"],
  [13, "plain_effect"],
  [14, "set_value"],
  [12, "read_value"],
  [6, "sequential_effect"],
  [5, "noop"],
  [3, "limited_read"],
] as const;

/** A plan of 3 to 30 steps with tools of all classes. The same random numbers give the same plan. */
export function makePlan(random: Random, index: number): ChaosPlan {
  const steps = stepsOf(random);
  const via = random.chance(QUERY_SHARE) ? "query" : "plan";
  const document: JsonObject = { steps: steps.map((step) => toJson(random, index, step, steps)) };
  // A model never writes the policy: the planner's code sets it.
  if (via === "plan")
    document["policy"] = { onStepFailure: random.pick(["auto", "fail-fast", "fail-forward"]) };
  const { large, middle, small } = TENANTS;
  const tenant = random.stream("tenant").weighted([
    [large.share, "large"],
    [middle.share, "middle"],
    [small.share, "small"],
  ] as const);
  return { index, tenant, via, steps, document };
}

function stepsOf(random: Random): ChaosStep[] {
  const step = (id: string, dependsOn: readonly string[], items?: number): ChaosStep => ({
    id,
    tool: random.weighted(TOOL_WEIGHTS),
    dependsOn,
    list: items === undefined ? undefined : { items, hasManyAttempts: true },
  });
  const list = (id: string, dependsOn: readonly string[]): ChaosStep => ({
    id,
    tool: random.pick(LIST_TOOLS),
    dependsOn,
    list: { items: random.whole(3, 9), ...drawListOptions(random) },
  });
  const steps = (graph: readonly GraphStep[]): ChaosStep[] =>
    graph.map(({ id, dependsOn }) => step(id, dependsOn));
  switch (random.pick(SHAPES)) {
    case "chain":
      return steps(chain(random.whole(3, 12)));
    case "diamond":
      return steps(diamond(random.whole(4, 8)));
    case "wide":
      return steps(fanIn(random.whole(6, 25)));
    case "forEach":
      return [
        step("first", []),
        step("each", ["first"], random.whole(3, 12)),
        step("other", random.chance(0.5) ? ["first"] : [], random.whole(2, 6)),
        step("last", ["each", "other"]),
      ];
    case "lists":
      return [
        step("first", []),
        list("each", ["first"]),
        list("other", random.chance(0.5) ? ["each"] : []),
        // A read, because it runs again with its list, without an operator.
        { id: "reader", tool: "read_value", dependsOn: ["each"], countsList: "each" },
        step("last", ["each", "other"]),
      ];
    case "mixed":
      return scattered(random, random.whole(8, 30)).map(({ id, dependsOn }) =>
        step(id, dependsOn, random.chance(0.06) ? 3 : undefined),
      );
  }
}

function toJson(random: Random, index: number, step: ChaosStep, all: readonly ChaosStep[]): JsonObject {
  const { id, tool, dependsOn, list, countsList } = step;
  const retry = list === undefined || list.hasManyAttempts ? RETRY : BRIEF_RETRY;
  const common = { id, dependsOn: [...dependsOn], timeoutMs: STEP_TIMEOUT_MS, retry };
  const label = labelOf(index, list === undefined ? id : `${id}[<<index>>]`);
  const countOf: JsonObject =
    countsList === undefined ? {} : { of: countsList, ok: `<<${countsList}.summary.ok>>` };
  const args: JsonObject = { value: { label, from: outputsOf(dependsOn, all), ...countOf } };
  if (tool === "looked_up_effect") args["reference"] = label;
  const latencyMs = latencyOf(random);
  if (latencyMs > 0) args["latencyMs"] = latencyMs;
  if (list === undefined) return { ...common, tool, arguments: args };
  const { errors, minSuccess } = list;
  const when = drawItemCondition(random.stream(`condition of ${id}`), list.items);
  return {
    ...common,
    forEach: {
      items: Array.from({ length: list.items }, (_, index) => index),
      concurrency: 4,
      ...(errors !== undefined && { errors }),
      ...(minSuccess !== undefined && { minSuccess }),
      ...(when && { when }),
      do: { tool, arguments: args },
    },
  };
}

/**
 * References to the effects of earlier steps, so that a repeated or lost effect shows in the arguments of
 * later steps.
 */
function outputsOf(dependsOn: readonly string[], all: readonly ChaosStep[]): JsonObject {
  const entries = all
    .filter(
      ({ id, list, countsList }) => dependsOn.includes(id) && list === undefined && countsList === undefined,
    )
    .map(({ id, tool }): [string, JsonValue] => [
      id,
      CHAOS_TOOLS[tool]?.isCounted ? `<<${id}.effect>>` : `<<${id}.value.label>>`,
    ]);
  return Object.fromEntries(entries);
}

/**
 * Some calls answer at once, most like a web service, and some so slowly that a lease ends during the call.
 */
function latencyOf(random: Random): number {
  return random.weighted([
    [30, 0],
    [40, random.whole(20, 300)],
    [24, random.whole(300, 1_000)],
    [6, random.whole(1_200, 1_900)],
  ]);
}

/** The longest delay of an answer, in milliseconds. */
const SLOWEST_MS = 900;
const ODD_SHARE = 0.2;

/**
 * A model that answers the sentence of a plan with that plan. The first call for a plan sometimes fails or is
 * cut off; later calls always succeed.
 */
export function scriptedModel(random: Random, plans: readonly ChaosPlan[]): ModelScript {
  const asked = new Set<number>();
  return ({ body }) => {
    const index = indexInText(JSON.stringify(body["messages"] ?? ""));
    const plan = index === undefined ? undefined : plans[index];
    if (plan === undefined) return { type: "error", status: 400, message: "which plan?" };
    const planRandom = random.stream(`plan ${plan.index}`);
    const isFirst = !asked.has(plan.index);
    asked.add(plan.index);
    if (isFirst && planRandom.chance(ODD_SHARE)) return oddReply(planRandom);
    return answer(plan.document, { firstTokenMs: planRandom.whole(20, SLOWEST_MS) });
  };
}

function oddReply(random: Random): ScriptedReply {
  return random.pick<ScriptedReply>([
    { type: "error", status: 503 },
    { type: "error", status: 429, retryAfterSeconds: 1 },
    { type: "cut", text: '{"steps": [{"id": "s1"', afterChars: 12 },
  ]);
}

/** Number of calls in a script; later calls behave as usual. */
const CALLS = 3_000;

/** Unusual behaviour of a call, in addition to the latency in its arguments. */
const oddBehaviour = (random: Random): BehaviourInput =>
  random.weighted<BehaviourInput>([
    [20, { type: "latency", ms: random.whole(200, 1_500) }],
    [14, { type: "lose-answer" }],
    [8, { type: "reset" }],
    [6, { type: "hang", effect: random.chance(0.5) }],
    [14, { type: "status", status: 429, retryAfterSeconds: 1 }],
    [10, { type: "status", status: 503 }],
    [6, { type: "garbage" }],
    [4, { type: "protocol-error" }],
    [3, { type: "error-after-effect" }],
    [6, oddAnswer(random)],
    [3, { type: "tool-error" }],
  ]);

/** An answer in a form that the protocol does not declare, after the effect: it must not be lost. */
function oddAnswer(random: Random): BehaviourInput {
  return {
    type: "odd-answer",
    form: random.weighted([
      [1, "nulls"],
      [1, "bare"],
      [1, "text"],
    ]),
  };
}

/** Unusual behaviour of a tool for list items: mostly it refuses them, so that items fail. */
const oddForItems = (random: Random, isBatch: boolean): BehaviourInput =>
  random.weighted<BehaviourInput>([
    [60, isBatch ? { type: "items-fail", places: placesOf(random) } : { type: "tool-error" }],
    [10, { type: "tool-error" }],
    [8, { type: "status", status: 503 }],
    [6, { type: "lose-answer" }],
    [6, oddAnswer(random)],
    [4, { type: "latency", ms: random.whole(200, 1_500) }],
    [3, { type: "reset" }],
  ]);

function placesOf(random: Random): number[] {
  return [0, 1, 2, 3].filter(() => random.chance(0.4));
}

/** Class U cannot recover from a lost answer, so the tool only refuses its items. */
const oddForPlainItems: BehaviourInput = { type: "tool-error" };

function drawBehaviour(random: Random, tool: string): BehaviourInput {
  const { toolClass, isBatch } = CHAOS_TOOLS[tool] ?? {};
  if (!/^(item|batch)_/.test(tool)) {
    // Class U cannot recover from a lost answer, so a lower rate lets most plans complete.
    const share = toolClass === "U" ? 0.03 : 0.08;
    return random.chance(share) ? oddBehaviour(random) : USUAL;
  }
  // High enough that two attempts of one item both fail in some runs.
  if (toolClass === "U") return random.chance(0.12) ? oddForPlainItems : USUAL;
  return random.chance(isBatch ? 0.4 : 0.3) ? oddForItems(random, isBatch === true) : USUAL;
}

const USUAL: BehaviourInput = { type: "latency", ms: 0 };

/** The behaviour of the next calls of each tool: most calls are usual, some are not. */
export function makeToolScript(random: Random): ScriptInput {
  const tools = [...Object.keys(CHAOS_TOOLS), "find_effect"];
  return Object.fromEntries(
    tools.map((tool) => [tool, Array.from({ length: CALLS }, () => drawBehaviour(random, tool))]),
  );
}
