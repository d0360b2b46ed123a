import type { JsonObject, JsonValue } from "@planwright/plan";
import { type MissingValue, ValueMissingError } from "../draft-error.ts";
import type { BoundObject } from "./bind-arguments.ts";
import { latestLink, outputsAsText, type PlannedStep } from "./links.ts";
import { isContent, isTitle, literalText, type Parameter } from "./parameter.ts";
import { misread } from "./reading.ts";
import type { ToolWords } from "./tool-words.ts";

/**
 * Adds what the sentence says without words: links to what was made last, the topic as title, defaults of the schema.
 * Arguments come in the order of the schema.
 * @param name - which of several objects of the clause this is, for messages @throws {ValueMissingError} naming every required value without a source
 */
export function completeArguments(
  object: BoundObject,
  {
    words,
    steps,
    clause,
    name,
  }: { words: ToolWords; steps: readonly PlannedStep[]; clause: string; name: string | null },
): JsonObject {
  const completed: JsonObject = {};
  const missing: MissingValue[] = [];
  for (const parameter of words.parameters) {
    const value =
      object.values.get(parameter.name) ?? impliedValue(parameter, object, { words, steps, clause });
    if (value !== undefined) completed[parameter.name] = value;
    else if (parameter.required) {
      missing.push({ tool: words.tool.name, parameter: parameter.name, description: parameter.description });
    }
  }
  if (missing.length > 0) throw new ValueMissingError({ clause, object: name, missing });
  return completed;
}

function impliedValue(
  parameter: Parameter,
  object: BoundObject,
  { words, steps, clause }: { words: ToolWords; steps: readonly PlannedStep[]; clause: string },
): JsonValue | undefined {
  if (!parameter.required) return undefined;
  if (parameter.choices?.length === 1) return parameter.choices[0];
  if (parameter.default !== undefined) return parameter.default;
  if (isTitle(parameter) && object.topic !== null) return literalText(object.topic);
  if (parameter.link) {
    const latest = latestLink(parameter, steps);
    if (latest === "ambiguous") {
      throw misread(
        { clause },
        `it is open which ${parameter.link.thing} is meant for "${parameter.name}"; say its name`,
      );
    }
    if (latest) return latest.reference;
  }
  return declaredSource(parameter, words, steps) ?? wholeOutputs(parameter, object, words, steps);
}

/** A contract's `depends_on: [{tool, required_fields}]`: the field of that tool's output that bears the parameter's name. */
function declaredSource(
  parameter: Parameter,
  words: ToolWords,
  steps: readonly PlannedStep[],
): string | undefined {
  const source = steps.findLast(
    (step) =>
      words.dependsOn.get(step.words.tool.name)?.includes(parameter.name) &&
      step.words.outputs.has(parameter.name),
  );
  return source && `<<${source.id}.${parameter.name}>>`;
}

/** "... then summarize": a tool that only takes a text, without a word on which, takes what the clause before gives. */
function wholeOutputs(
  parameter: Parameter,
  object: BoundObject,
  words: ToolWords,
  steps: readonly PlannedStep[],
): string | undefined {
  const isOnly = words.parameters.filter((each) => each.required).length === 1;
  if (words.thing !== null || object.values.size > 0 || !isOnly || !isContent(parameter)) return undefined;
  const clause = steps.at(-1)?.clause;
  const made = steps.filter((step) => step.clause === clause);
  return made.length > 0 ? outputsAsText(made) : undefined;
}
