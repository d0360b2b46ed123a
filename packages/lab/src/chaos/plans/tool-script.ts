import type { BehaviourInput, ScriptInput } from "@planwright/testing";
import type { Random } from "../../random/random.ts";
import { CHAOS_TOOLS } from "./chaos-plan.ts";

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
