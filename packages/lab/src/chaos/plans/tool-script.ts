import type { BehaviourInput, ScriptInput } from "@planwright/testing";
import type { Random } from "../../random/random.ts";
import { CHAOS_TOOLS } from "./chaos-plan.ts";

/** Calls that one script is for; later ones are usual. */
const CALLS = 3_000;

/** What a call may do instead of answering, beside the slowness that plans ask for themselves. */
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
    [3, { type: "tool-error" }],
  ]);

/** What a tool for the items of lists does instead: mostly it refuses, so that items fail. */
const oddForItems = (random: Random, isBatch: boolean): BehaviourInput =>
  random.weighted<BehaviourInput>([
    [60, isBatch ? { type: "items-fail", places: placesOf(random) } : { type: "tool-error" }],
    [10, { type: "tool-error" }],
    [8, { type: "status", status: 503 }],
    [6, { type: "lose-answer" }],
    [4, { type: "latency", ms: random.whole(200, 1_500) }],
    [3, { type: "reset" }],
  ]);

function placesOf(random: Random): number[] {
  return [0, 1, 2, 3].filter(() => random.chance(0.4));
}

/** Class U has no way back from a lost answer: it refuses, and no more. */
const oddForPlainItems: BehaviourInput = { type: "tool-error" };

function drawBehaviour(random: Random, tool: string): BehaviourInput {
  const { toolClass, isBatch } = CHAOS_TOOLS[tool] ?? {};
  if (!/^(item|batch)_/.test(tool)) {
    // Class U has no way back from a lost answer: fewer of them, so that most plans still come to their end.
    const share = toolClass === "U" ? 0.03 : 0.08;
    return random.chance(share) ? oddBehaviour(random) : USUAL;
  }
  // What is tried twice fails twice often enough.
  if (toolClass === "U") return random.chance(0.12) ? oddForPlainItems : USUAL;
  return random.chance(isBatch ? 0.4 : 0.3) ? oddForItems(random, isBatch === true) : USUAL;
}

const USUAL: BehaviourInput = { type: "latency", ms: 0 };

/** Behaviours for the calls to come: most are usual, a share of each tool's is odd. */
export function makeToolScript(random: Random): ScriptInput {
  const tools = [...Object.keys(CHAOS_TOOLS), "find_effect"];
  return Object.fromEntries(
    tools.map((tool) => [tool, Array.from({ length: CALLS }, () => drawBehaviour(random, tool))]),
  );
}
