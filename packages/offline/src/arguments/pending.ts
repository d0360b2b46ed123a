import { isContent, isNumeric, type Parameter, TITLE_NAMES } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { isIdentifier, valueFor } from "../text/value-for.ts";
import type { Argument } from "../values/argument.ts";
import { type BoundObject, hasParameter } from "../values/bound-object.ts";
import { misread, type Reading } from "../values/reading.ts";

type Pending = NonNullable<Argument["pending"]>;

/**
 * Gives values that no rule could place to the one required parameter without a value, in every object.
 * @throws {NotUnderstoodError} when no parameter or several parameters could take a value
 */
export function placePending(reading: Reading, objects: readonly BoundObject[]): BoundObject[] {
  return objects.flatMap((object) => {
    let placed = [object];
    for (const pending of object.pending) placed = placed.flatMap((each) => place(reading, each, pending));
    return placed;
  });
}

function place(reading: Reading, object: BoundObject, pending: Pending): BoundObject[] {
  const { parameters } = reading.words;
  const open = parameters.filter((each) => !hasParameter(object, each));
  const required = open.filter((each) => each.required && takes(each, pending, reading));
  const numeric = required.filter(isNumeric);
  const [parameter, second] = numeric.length === 1 ? numeric : required;
  const said = pending.map(({ text }) => text).join(", ");
  if (!parameter || second !== undefined) throw misread(reading, `it is open what "${said}" means there`);
  const values = pending.map(({ text, kind }) => valueFor(parameter, text, kind) ?? null);
  if (parameter.type === "array") return [withValue(object, parameter, values)];
  return values.map((value) => withValue(object, parameter, value));
}

const withValue = (object: BoundObject, { name }: Parameter, value: JsonValue): BoundObject => ({
  ...object,
  values: new Map(object.values).set(name, value),
});

/**
 * A preposition alone never brings a title or a text. It can bring the name of a person with a role ("for Ken
 * Adams" is `passenger_name`).
 */
function takes(parameter: Parameter, pending: Pending, { words }: Reading): boolean {
  if (isContent(parameter) || isOwnName(parameter, words.thing)) return false;
  return pending.every(
    ({ text, kind }) =>
      valueFor(parameter, text, kind) !== undefined && (parameter.link === null || isIdentifier(text)),
  );
}

const isOwnName = ({ words }: Parameter, thing: string | null) =>
  TITLE_NAMES.includes(words.at(-1) ?? "") && (words.length === 1 || words[0] === thing);
