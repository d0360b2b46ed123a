import { type JsonObject, type Plan, PlanSchema } from "@planwright/plan";
import { DEADLY_TOOL } from "./catalogue.ts";
import type { Random } from "./random.ts";

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
/** One in so many steps calls a tool that needs approval. */
const GUARDED_RATE = 0.04;
/** One in so many steps is a list. */
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

/**
 * A plan of 1 to 12 steps. Every call carries the name of the unit that it serves (`p0/s3`, for items `p0/s3/2`) in its argument
 * `unit`, so that a tool can tell calls of one unit from others without looking at keys.
 * @param name - of the plan, such as "p0"
 */
export function drawPlan(random: Random, name: string, isDeadly: boolean): Plan {
  const count = random.chance(0.15) ? 1 : random.whole(2, 12);
  const deadlyAt = isDeadly ? random.whole(0, count - 1) : -1;
  const steps = Array.from({ length: count }, (_, index) =>
    drawStep(random, name, index, index === deadlyAt),
  );
  const policy: JsonObject = {
    maxParallel: random.pick([1, 2, 4, 16]),
    stepTimeoutMs: random.pick([1_500, 4_000, 8_000]),
    onStepFailure: random.pick(["auto", "auto", "fail-fast", "fail-forward", "run-dependents"]),
    unreachableMs: random.pick([0, 3_000, 10_000, 600_000]),
  };
  return PlanSchema.parse({ steps, policy });
}

function drawStep(random: Random, plan: string, index: number, isDeadly: boolean): JsonObject {
  const id = `s${index}`;
  const unit = `${plan}/${id}`;
  const earlier = Array.from({ length: index }, (_, position) => `s${position}`);
  const uses = earlier.filter(() => random.chance(2 / (index + 1))).slice(-3);
  const waitsFor = earlier.filter(() => random.chance(0.5 / (index + 1))).slice(-2);
  const common: JsonObject = { id, dependsOn: waitsFor, ...drawOptions(random, earlier) };
  if (random.chance(LIST_RATE) && !isDeadly) {
    const [source] = uses;
    const items = source === undefined ? [1, 2, 3, 4, 5, 6].slice(random.whole(0, 5)) : `<<${source}.list>>`;
    const call = {
      tool: random.pick(TOOLS_OF_LISTS),
      arguments: { unit: `${unit}/<<index>>`, item: "<<item>>" },
    };
    const options = { concurrency: random.whole(1, 4), ...drawFailureOptions(random) };
    return { ...common, forEach: { items, ...options, do: call } };
  }
  const inputs = Object.fromEntries(uses.map((use) => [use, `<<${use}.value>>`]));
  const isGuarded = random.chance(GUARDED_RATE);
  const tool = isDeadly ? DEADLY_TOOL : isGuarded ? "plain_guarded" : random.pick(TOOLS);
  return { ...common, tool, arguments: { unit, ...inputs } };
}

/** What failed items do to their list; half of the lists leave it to the contract, and half to the default. */
function drawFailureOptions(random: Random): JsonObject {
  const options: JsonObject = {};
  if (random.chance(0.5)) options["errors"] = random.pick(["collect", "collect", "stop"]);
  if (random.chance(0.5)) options["minSuccess"] = random.pick([0, 1, 2, 3, 0.5, 0.9]);
  return options;
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
