import type { BehaviourInput, ScriptInput } from "../src/index.ts";
import { CHAOS_TOOLS } from "./chaos-plan.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Calls that one script is for; later ones are usual. */
const CALLS = 3_000;

/** What a call may do instead of answering, beside the slowness that plans ask for themselves. */
const oddBehaviour = (random: SeededRandom): BehaviourInput =>
  random.weighted<BehaviourInput>([
    [20, { type: "latency", ms: random.between(200, 1_500) }],
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

/** Behaviours for the calls to come: most are usual, a share of each tool's is odd. */
export function makeToolScript(random: SeededRandom): ScriptInput {
  const tools = [...Object.keys(CHAOS_TOOLS), "find_effect"];
  return Object.fromEntries(
    tools.map((tool) => {
      // Class U has no way back from a lost answer: fewer of them, so that most plans still come to their end.
      const share = CHAOS_TOOLS[tool]?.toolClass === "U" ? 0.03 : 0.08;
      const behaviours = Array.from(
        { length: CALLS },
        (): BehaviourInput => (random.chance(share) ? oddBehaviour(random) : { type: "latency", ms: 0 }),
      );
      return [tool, behaviours];
    }),
  );
}
