import { nameSteps, parseExactJson } from "@planwright/plan";
import { jsonrepair } from "jsonrepair";
import { toolOf } from "./draft-steps.ts";
import { isObject, type JsonRecord } from "./json-record.ts";

/**
 * The plan in an answer of a model that may still be arriving, as far as it can be read. Steps without an id
 * are named as the planner names them: numbered where several use one tool. The last step is left out until
 * its id and tool are complete. Pure.
 */
export function partialDocument(answer: string): { steps: JsonRecord[] } {
  const read = stepsIn(readPartial(answer)).filter(isObject);
  const complete = read.filter((step, index) => index < read.length - 1 || isNamed(step));
  const steps = complete
    .map((step) => {
      const id = typeof step["id"] === "string" ? step["id"] : "";
      return { step, id, tool: toolOf(step), hasOwnId: id !== "" };
    })
    .filter(({ tool, hasOwnId }) => hasOwnId || tool !== "");
  nameSteps(steps);
  return { steps: steps.map(({ step, id }) => ({ ...step, id })) };
}

/**
 * True for a step that has more than its names: they are complete when the value of the next field begins.
 * Before that the repair makes it null.
 */
function isNamed(step: JsonRecord): boolean {
  const { forEach } = step;
  if (isObject(forEach)) return isObject(forEach["do"]) && isNamed(forEach["do"]);
  return Object.entries(step).some(([name, value]) => name !== "id" && name !== "tool" && value !== null);
}

/** The value that begins at the first brace, closed where the text ends; undefined when it cannot be read. */
function readPartial(answer: string): unknown {
  const start = answer.indexOf("{");
  if (start < 0) return undefined;
  try {
    return parseExactJson(jsonrepair(answer.slice(start)));
  } catch (error) {
    // Both throw for text that is no JSON; more of it may arrive.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** Models put the steps at the top or into one object, such as `{plan: {steps}}`. */
function stepsIn(value: unknown): readonly unknown[] {
  const [plain] = Array.isArray(value) ? value : [value];
  if (!isObject(plain)) return [];
  const holder = [plain, ...Object.values(plain)].find(
    (candidate) => isObject(candidate) && Array.isArray(candidate["steps"]),
  );
  const steps = isObject(holder) ? holder["steps"] : [];
  return Array.isArray(steps) ? steps : [];
}
