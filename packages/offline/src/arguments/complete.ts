import {
  isContent,
  isFreeText,
  isLongText,
  isTitle,
  type Parameter,
  type ToolWords,
} from "@planwright/models/words";
import { escapeText, type JsonObject, type JsonValue } from "@planwright/plan";
import { latestLink, type PlannedStep } from "../links/links.ts";
import { outputsAsText } from "../links/outputs.ts";
import type { MissingValue } from "../refusal/offline-errors.ts";
import type { BoundObject } from "../values/bound-object.ts";
import { expected } from "../values/link-values.ts";
import { misread } from "../values/reading.ts";

/**
 * The arguments of one call, in the order of the schema, and the required values that the sentence does not
 * give.
 */
export interface Completed {
  arguments: JsonObject;
  missing: MissingValue[];
  /** True when a link to an earlier step was added. */
  isLinked: boolean;
}

interface Place {
  words: ToolWords;
  steps: readonly PlannedStep[];
  clause: string;
  object: BoundObject;
}

/**
 * Adds values that the sentence implies: links to the thing made last, the topic as title, defaults of the
 * schema. No value is invented: a required value without a source is listed as missing.
 * @throws {NotUnderstoodError} when a link could refer to several steps
 */
export function completeArguments(place: Place): Completed {
  const completed: JsonObject = {};
  const missing: MissingValue[] = [];
  let isLinked = false;
  for (const parameter of place.words.parameters) {
    const { name, description } = parameter;
    const said = place.object.unusable.get(name) ?? null;
    const own = place.object.values.get(name);
    const value =
      own ?? (said === null ? (impliedValue(parameter, place) ?? sharedValue(parameter, place)) : undefined);
    if (value !== undefined) {
      completed[name] = value;
      isLinked ||= own === undefined && typeof value === "string" && value.includes("<<");
    } else if (parameter.required || said !== null) {
      missing.push({
        tool: place.words.tool.name,
        parameter: name,
        description,
        said,
        form: expected(parameter),
      });
    }
  }
  return { arguments: completed, missing, isLinked };
}

function impliedValue(parameter: Parameter, place: Place): JsonValue | undefined {
  const { object, steps, clause, words } = place;
  if (!parameter.required) return undefined;
  if (parameter.choices?.length === 1) return parameter.choices[0];
  if (parameter.default !== undefined) return parameter.default;
  if (isTitle(parameter) && object.topic !== null) return escapeText(object.topic);
  if (parameter.link) {
    const latest = latestLink(parameter, steps);
    if (latest === "ambiguous") {
      throw misread(
        { clause },
        `it is open which ${parameter.link.thing} is meant for "${parameter.name}"; say its name`,
      );
    }
    if (latest) return parameter.type === "array" ? [latest.reference] : latest.reference;
  }
  return declaredSource(parameter, words, steps) ?? wholeOutputs(parameter, place);
}

/**
 * Values that say where a thing is are kept: a pull request that was made in `repo` "web" is merged in the
 * same repo.
 */
function sharedValue(parameter: Parameter, { object, steps }: Place): JsonValue | undefined {
  if (!parameter.required || !isFreeText(parameter) || isLongText(parameter)) return undefined;
  const given = JSON.stringify([...object.values.values()]);
  const source = steps.findLast(({ id }) => new RegExp(`<<${id}[.\\[>]`).test(given));
  const isAlike = source?.words.parameters.some((each) => each.name === parameter.name && isFreeText(each));
  return source && isAlike === true ? source.arguments[parameter.name] : undefined;
}

/**
 * A contract's `depends_on: [{tool, required_fields}]`: the field of that tool's output that has the
 * parameter's name.
 */
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

/**
 * "... then summarize": a tool that needs only a text, when the clause does not say which, gets the outputs
 * of the steps since the last "then".
 */
function wholeOutputs(parameter: Parameter, { object, words, steps }: Place): string | undefined {
  const isOnly = words.parameters.filter((each) => each.required).length === 1;
  const isText = words.thing === null || parameter.words.includes(words.thing);
  if (!isText || object.values.size > 0 || !isOnly || !isContent(parameter)) return undefined;
  const stage = steps.at(-1)?.stage;
  const made = steps.filter((step) => step.stage === stage);
  return made.length > 0 ? outputsAsText(made) : undefined;
}
