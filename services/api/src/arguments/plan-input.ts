import { isJsonObject, parseExactJson, unmarkNumbers } from "@planwright/plan";
import type { ArgumentChange } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import { checkFilledIn, checkJsonShape, requireFit } from "./json-patch.ts";
import { parseStepId } from "./text.ts";

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

/** Most steps that one call may change. */
const MAX_CHANGES = 100;
/** Largest size of all new arguments together, as JSON. */
const MAX_CHANGED_BYTES = 1_048_576;

/** New arguments of steps: each step at most once, with at least one argument. @throws {BadInputError} */
export function parseChanges(given: readonly { stepId: string; set: unknown }[]): ArgumentChange[] {
  if (given.length > MAX_CHANGES) {
    throw refusedChanges(
      `At most ${MAX_CHANGES} steps can be changed at once`,
      "Submit a new plan with submitPlan.",
    );
  }
  const changes = given.map(({ stepId, set }) => {
    const id = parseStepId(stepId);
    checkJsonShape("arguments", set);
    checkFilledIn("arguments", set);
    if (!isJsonObject(set) || Object.keys(set).length === 0) {
      throw refusedChanges(
        `set of step '${id}' is not an object with at least one argument`,
        'Give the arguments that change, by name: {stepId: "s1", set: {title: "Hello"}}.',
      );
    }
    requireFit("arguments", set);
    return { stepId: id, set };
  });
  const twice = changes.find(
    ({ stepId }, index) => changes.findIndex((one) => one.stepId === stepId) < index,
  );
  if (twice)
    throw refusedChanges(`Step '${twice.stepId}' is changed twice`, "Give all its arguments in one set.");
  if (Buffer.byteLength(JSON.stringify(changes)) > MAX_CHANGED_BYTES) {
    throw refusedChanges(
      `The arguments are larger than ${MAX_CHANGED_BYTES} bytes`,
      "Move long values into a tool.",
    );
  }
  return changes;
}

function refusedChanges(message: string, remedy: string): BadInputError {
  return new BadInputError("arguments", message, remedy);
}
