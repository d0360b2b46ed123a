import { type JsonObject, type Plan, PlanSchema } from "@planwright/plan";
import { drawItemCondition, drawListOptions } from "../../plans/draw-list-options.ts";
import { chain, diamond, fanIn, type GraphStep, scattered } from "../../plans/graph-shapes.ts";
import type { Random } from "../../random/random.ts";
import { DEADLY_TOOL } from "../world/catalogue.ts";

const TOOLS = [
  "read",
  "read",
  "natural",
  "keyed",
  "keyed",
  "keyed: two at once (größe)",
  "keyed_barrier",
  "looked_up",
  "looked_up",
  "looked_up_late",
  "plain",
  "plain",
  "plain_alone",
] as const;
/** Share of the steps whose tool needs approval. */
const GUARDED_RATE = 0.04;
/** Share of the steps that are lists. */
const LIST_RATE = 0.22;
const TOOLS_OF_LISTS = [
  "read",
  "read_in_batches",
  "keyed",
  "keyed_in_batches",
  "keyed_in_envelopes",
  "looked_up",
  "plain",
] as const;

/** Most items of a list. */
const MAX_ITEMS = 6;

/** Share of the dependencies without a reference to an output: the step only waits. */
const WAIT_RATE = 0.2;

/**
 * A plan of 1 to 12 steps. Every call has the name of its unit (`p0/s3`, for items `p0/s3/2`) in its argument
 * `unit`, so that the checker can find the units of a call without keys.
 * @param name - of the plan, such as "p0"
 */
export function drawPlan(random: Random, name: string, isDeadly: boolean): Plan {
  const count = random.chance(0.15) ? 1 : random.whole(2, 12);
  const deadlyAt = isDeadly ? random.whole(0, count - 1) : -1;
  const steps = drawGraph(random, count).map((step, index) =>
    drawStep(random, name, step, index, index === deadlyAt),
  );
  const policy: JsonObject = {
    maxParallel: random.pick([1, 2, 4, 16]),
    stepTimeoutMs: random.pick([1_500, 4_000, 8_000]),
    onStepFailure: random.pick(["auto", "auto", "fail-fast", "fail-forward", "run-dependents"]),
    unreachableMs: random.pick([0, 3_000, 10_000, 600_000]),
  };
  // Longer than any plan's own time, or so short that decisions come too late.
  const approvalTimeoutMs = policy["unreachableMs"] === 3_000 ? 5_000 : 300_000;
  return PlanSchema.parse({ steps, policy: { ...policy, approvalTimeoutMs } });
}

function drawGraph(random: Random, count: number): GraphStep[] {
  const shape = random.weighted([
    [6, "scattered"],
    [1, "chain"],
    [1, "diamond"],
    [1, "fan-in"],
  ] as const);
  if (shape === "chain") return chain(count);
  if (shape === "diamond" && count >= 3) return diamond(count);
  return shape === "fan-in" ? fanIn(count) : scattered(random, count);
}

function drawStep(
  random: Random,
  plan: string,
  { id, dependsOn }: GraphStep,
  index: number,
  isDeadly: boolean,
): JsonObject {
  const unit = `${plan}/${id}`;
  const earlier = Array.from({ length: index }, (_, position) => `s${position}`);
  const waitsFor = dependsOn.filter(() => random.chance(WAIT_RATE));
  const uses = dependsOn.filter((each) => !waitsFor.includes(each));
  const common: JsonObject = { id, dependsOn: waitsFor, ...drawOptions(random, earlier) };
  if (random.chance(LIST_RATE) && !isDeadly) {
    const [source] = uses;
    const items = source === undefined ? [1, 2, 3, 4, 5, 6].slice(random.whole(0, 5)) : `<<${source}.list>>`;
    const call = {
      tool: random.pick(TOOLS_OF_LISTS),
      arguments: { unit: `${unit}/<<index>>`, item: "<<item>>" },
    };
    const options = { concurrency: random.whole(1, 4), ...drawListOptions(random) };
    const when = drawItemCondition(random.stream(`condition of ${unit}`), MAX_ITEMS);
    return { ...common, forEach: { items, ...options, ...(when && { when }), do: call } };
  }
  const inputs = Object.fromEntries(uses.map((use) => [use, `<<${use}.value>>`]));
  const isGuarded = random.chance(GUARDED_RATE);
  const tool = isDeadly ? DEADLY_TOOL : isGuarded ? "plain_guarded" : random.pick(TOOLS);
  return { ...common, tool, arguments: { unit, ...inputs } };
}

function drawOptions(random: Random, earlier: readonly string[]): JsonObject {
  const options: JsonObject = {};
  if (random.chance(0.3)) {
    const initialMs = random.whole(0, 2_000);
    options["retry"] = {
      maxAttempts: random.whole(1, 4),
      initialMs,
      maxMs: initialMs + random.whole(0, 8_000),
    };
  }
  if (random.chance(0.1)) options["onError"] = random.pick(["fail-fast", "fail-forward", "run-dependents"]);
  if (random.chance(0.04)) options["approval"] = true;
  const [first] = earlier;
  if (random.chance(0.06) && first !== undefined) options["when"] = { status: [first, "COMPLETED"] };
  return options;
}
