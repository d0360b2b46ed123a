import { canonicalDigest } from "@planwright/plan";
import type { PlanGraph } from "@planwright/store";
import { quoted } from "../arguments/text.ts";
import { BadInputError } from "../errors/api-error.ts";

/**
 * SHA-256 of the executed content: the version, the plan, and the tools at the time when it was made. Null
 * without a plan that can be executed. Pure.
 */
export function planHashOf({ _id, plan, toolPins }: PlanGraph): string | null {
  return plan && canonicalDigest({ planId: _id, plan, toolPins: toolPins ?? [] });
}

/** @throws {BadInputError} for text that cannot be a hash */
export function parsePlanHash(given: string): string {
  if (/^[0-9a-f]{64}$/.test(given)) return given;
  throw new BadInputError(
    "planHash",
    `Not the hash of a plan: ${quoted(given)}`,
    "Give planHash of the plan: request(requestId) { plan { planHash } }.",
  );
}
