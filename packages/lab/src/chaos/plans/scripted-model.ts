import { answer, type ModelScript, type ScriptedReply } from "@planwright/testing";
import type { Random } from "../../random/random.ts";
import { type ChaosPlan, indexInText } from "./chaos-plan.ts";

/** The slowest answer of the model, in milliseconds. */
const SLOWEST_MS = 900;
const ODD_SHARE = 0.2;

/**
 * A model that answers the sentence of a plan with that plan. Some first calls fail or are cut off; from the
 * second call for a plan on it always answers.
 */
export function scriptedModel(random: Random, plans: readonly ChaosPlan[]): ModelScript {
  const asked = new Set<number>();
  return ({ body }) => {
    const index = indexInText(JSON.stringify(body["messages"] ?? ""));
    const plan = index === undefined ? undefined : plans[index];
    if (plan === undefined) return { type: "error", status: 400, message: "which plan?" };
    const own = random.stream(`plan ${plan.index}`);
    const isFirst = !asked.has(plan.index);
    asked.add(plan.index);
    if (isFirst && own.chance(ODD_SHARE)) return oddReply(own);
    return answer(plan.document, { firstTokenMs: own.whole(20, SLOWEST_MS) });
  };
}

function oddReply(random: Random): ScriptedReply {
  return random.pick<ScriptedReply>([
    { type: "error", status: 503 },
    { type: "error", status: 429, retryAfterSeconds: 1 },
    { type: "cut", text: '{"steps": [{"id": "s1"', afterChars: 12 },
  ]);
}
