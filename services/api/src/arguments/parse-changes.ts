import { isJsonObject } from "@planwright/plan";
import type { ArgumentChange } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import { checkFilledIn, checkJsonShape, requireFit } from "./json-patch.ts";
import { parseStepId } from "./text.ts";

/** Most steps that one call may change. */
const MAX_CHANGES = 100;
/** Largest size of all new arguments together, as JSON. */
const MAX_BYTES = 1_048_576;

/** New arguments of steps: each step at most once, with at least one argument. @throws {BadInputError} */
export function parseChanges(given: readonly { stepId: string; set: unknown }[]): ArgumentChange[] {
  if (given.length > MAX_CHANGES) {
    throw refused(
      `At most ${MAX_CHANGES} steps can be changed at once`,
      "Submit a new plan with submitPlan.",
    );
  }
  const changes = given.map(({ stepId, set }) => {
    const id = parseStepId(stepId);
    checkJsonShape("arguments", set);
    checkFilledIn("arguments", set);
    if (!isJsonObject(set) || Object.keys(set).length === 0) {
      throw refused(
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
  if (twice) throw refused(`Step '${twice.stepId}' is changed twice`, "Give all its arguments in one set.");
  if (Buffer.byteLength(JSON.stringify(changes)) > MAX_BYTES) {
    throw refused(`The arguments are larger than ${MAX_BYTES} bytes`, "Move long values into a tool.");
  }
  return changes;
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("arguments", message, remedy);
}
