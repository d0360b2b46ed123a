import { parseExactJson, unmarkNumbers } from "@planwright/plan";
import { BadInputError } from "../errors/api-error.ts";
import { checkJsonShape } from "./json-patch.ts";

/** A submitted plan as a value, and as the text that is stored. */
export interface GivenPlan {
  value: unknown;
  raw: string;
}

const MAX_BYTES = 1_048_576;

/**
 * Checks the plan before other code reads it: size, depth, and keys that MongoDB can store.
 * Text is parsed when it is JSON.
 * @throws {BadInputError}
 */
export function readPlanInput(plan: unknown): GivenPlan {
  if (typeof plan === "string") {
    if (Buffer.byteLength(plan) > MAX_BYTES) throw tooLarge();
    const value = parsedText(plan);
    checkJsonShape("plan", value);
    return { value, raw: plan };
  }
  checkJsonShape("plan", plan);
  const raw = unmarkNumbers(JSON.stringify(plan) ?? "null");
  if (Buffer.byteLength(raw) > MAX_BYTES) throw tooLarge();
  return { value: parseExactJson(raw), raw };
}

function parsedText(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return text; // Not JSON: parsePlan reports what is wrong with it.
  }
}

function tooLarge(): BadInputError {
  return refused(`The plan is larger than ${MAX_BYTES} bytes`, "Split it, or move long values into a tool.");
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("plan", message, remedy);
}
