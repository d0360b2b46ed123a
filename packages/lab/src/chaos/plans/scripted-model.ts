import { answer, type ModelScript, type ScriptedReply } from "@planwright/testing";
import type { Random } from "../../random/random.ts";
import { type ChaosPlan, indexInText } from "./chaos-plan.ts";

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
