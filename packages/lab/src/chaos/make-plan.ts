import type { JsonObject, JsonValue } from "@planwright/plan";
import {
  CHAOS_TOOLS,
  type ChaosList,
  type ChaosPlan,
  type ChaosStep,
  labelOf,
  STEP_TIMEOUT_MS,
} from "./chaos-plan.ts";
import type { SeededRandom } from "./seeded-random.ts";

const SHAPES = ["chain", "diamond", "wide", "forEach", "lists", "mixed"] as const;
/** A share of the plans goes through a planner and its model. */
const QUERY_SHARE = 0.25;
const RETRY = { maxAttempts: 6, initialMs: 200, maxMs: 2_000 };
/** Items that are to fail now and then are not tried for long. */
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

/** A plan of 3 to 30 steps over tools of all classes; the same random gives the same plan. */
export function makePlan(random: SeededRandom, index: number): ChaosPlan {
  const steps = stepsOf(random);
  const via = random.chance(QUERY_SHARE) ? "query" : "plan";
  const document: JsonObject = { steps: steps.map((step) => toJson(random, index, step, steps)) };
  // What a model writes says nothing about policy: code decides that.
  if (via === "plan")
    document["policy"] = { onStepFailure: random.pick(["auto", "fail-fast", "fail-forward"]) };
  return { index, via, steps, document };
}

function stepsOf(random: SeededRandom): ChaosStep[] {
  const step = (id: string, dependsOn: readonly string[], items?: number): ChaosStep => ({
    id,
    tool: random.weighted(TOOL_WEIGHTS),
    dependsOn,
    list: items === undefined ? undefined : { items, isTenacious: true },
  });
  const list = (id: string, dependsOn: readonly string[]): ChaosStep => ({
    id,
    tool: random.pick(LIST_TOOLS),
    dependsOn,
    list: listOf(random),
  });
  const names = (count: number): string[] => Array.from({ length: count }, (_, place) => `s${place + 1}`);
  switch (random.pick(SHAPES)) {
    case "chain":
      return names(random.between(3, 12)).map((id, place, all) =>
        step(id, all.slice(Math.max(0, place - 1), place)),
      );
    case "diamond": {
      const middle = names(random.between(2, 6));
      return [step("first", []), ...middle.map((id) => step(id, ["first"])), step("last", middle)];
    }
    case "wide": {
      const roots = names(random.between(5, 24));
      return [...roots.map((id) => step(id, [])), step("last", roots)];
    }
    case "forEach":
      return [
        step("first", []),
        step("each", ["first"], random.between(3, 12)),
        step("other", random.chance(0.5) ? ["first"] : [], random.between(2, 6)),
        step("last", ["each", "other"]),
      ];
    case "lists":
      return [
        step("first", []),
        list("each", ["first"]),
        list("other", random.chance(0.5) ? ["each"] : []),
        // Tools that only read: they run again with their list, and an operator is not asked.
        { id: "told", tool: "read_value", dependsOn: ["each"], tells: "each" },
        step("last", ["each", "other"]),
      ];
    case "mixed":
      // Each step leans on one to three of the eight before it: deep, and still something to do side by side.
      return names(random.between(8, 30)).map((id, place, all) => {
        const before = random.shuffled(all.slice(Math.max(0, place - 8), place));
        return step(
          id,
          before.slice(0, random.between(place < 2 ? 0 : 1, 3)),
          random.chance(0.06) ? 3 : undefined,
        );
      });
  }
}

/** Half of the lists leave each option to its default. */
function listOf(random: SeededRandom): ChaosList {
  return {
    items: random.between(3, 9),
    errors: random.chance(0.5) ? random.pick(["stop", "collect"] as const) : undefined,
    minSuccess: random.chance(0.5) ? random.pick([0, 2, 3, 0.5, 0.9]) : undefined,
  };
}

function toJson(random: SeededRandom, index: number, step: ChaosStep, all: readonly ChaosStep[]): JsonObject {
  const { id, tool, dependsOn, list, tells } = step;
  const retry = list === undefined || list.isTenacious ? RETRY : BRIEF_RETRY;
  const common = { id, dependsOn: [...dependsOn], timeoutMs: STEP_TIMEOUT_MS, retry };
  const label = labelOf(index, list === undefined ? id : `${id}[<<index>>]`);
  const told: JsonObject = tells === undefined ? {} : { of: tells, ok: `<<${tells}.summary.ok>>` };
  const args: JsonObject = { value: { label, from: outputsOf(dependsOn, all), ...told } };
  if (tool === "looked_up_effect") args["reference"] = label;
  const latencyMs = latencyOf(random);
  if (latencyMs > 0) args["latencyMs"] = latencyMs;
  if (list === undefined) return { ...common, tool, arguments: args };
  const { errors, minSuccess } = list;
  return {
    ...common,
    forEach: {
      items: Array.from({ length: list.items }, (_, place) => place),
      concurrency: 4,
      ...(errors !== undefined && { errors }),
      ...(minSuccess !== undefined && { minSuccess }),
      do: { tool, arguments: args },
    },
  };
}

/** References to the effects of earlier steps: a repeated or forgotten effect shows in the arguments of those that follow. */
function outputsOf(dependsOn: readonly string[], all: readonly ChaosStep[]): JsonObject {
  const entries = all
    .filter(({ id, list, tells }) => dependsOn.includes(id) && list === undefined && tells === undefined)
    .map(({ id, tool }): [string, JsonValue] => [
      id,
      CHAOS_TOOLS[tool]?.isCounted ? `<<${id}.effect>>` : `<<${id}.value.label>>`,
    ]);
  return Object.fromEntries(entries);
}

/** Some at once, most at the pace of a web service, some so slow that a lease ends meanwhile. */
function latencyOf(random: SeededRandom): number {
  return random.weighted([
    [30, 0],
    [40, random.between(20, 300)],
    [24, random.between(300, 1_000)],
    [6, random.between(1_200, 1_900)],
  ]);
}
