import type { JsonObject, JsonValue } from "@planwright/plan";
import { drawItemCondition, drawListOptions } from "../../plans/draw-list-options.ts";
import { chain, diamond, fanIn, type GraphStep, scattered } from "../../plans/graph-shapes.ts";
import type { Random } from "../../random/random.ts";
import {
  CHAOS_TOOLS,
  type ChaosPlan,
  type ChaosStep,
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
