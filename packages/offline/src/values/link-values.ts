import { linkedNoun, type Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { identityOf } from "../links/antecedents.ts";
import { linkByThing, linkTo, linkToThingOf, namedThing, stepsNamed } from "../links/links.ts";
import { valueFor } from "../text/value-for.ts";
import type { Argument } from "./argument.ts";
import type { ReadValue } from "./read-value.ts";
import { misread, type Reading } from "./reading.ts";

/** True for a parameter that can refer to the thing of an earlier step, by its name or by its kind. */
export const isLinkable = (reading: Reading, parameter: Parameter) =>
  parameter.link !== null || namedThing(parameter, reading.things) !== null;

const reach = (parameter: Parameter, reading: Reading, text: string) =>
  stepsNamed(reading.steps, text).flatMap((step) => {
    if (!parameter.link) return linkByThing(parameter, step) ?? [];
    const isRole = !reading.things.has(linkedNoun(parameter) ?? "");
    return linkTo(parameter, step) ?? (isRole ? (linkToThingOf(parameter, step) ?? []) : []);
  });

/**
 * The value for a parameter: a reference when the thing of an earlier step has that name, else the value
 * itself. A name in place of an id or an address is unusable, and becomes a question.
 * @throws {NotUnderstoodError} when several steps have the name, or the parameter cannot take the value
 */
export function give(reading: Reading, parameter: Parameter, value: ReadValue): Omit<Argument, "next"> {
  if (isLinkable(reading, parameter)) {
    const [reference, second] = reach(parameter, reading, value.text);
    if (second !== undefined) throw misread(reading, `several earlier steps are called "${value.text}"`);
    if (reference !== undefined) return { gives: [{ parameter, value: reference }], isTyped: true };
  }
  const given = valueFor(parameter, value.text, value.kind);
  if (given !== undefined) return { gives: [{ parameter, value: given }] };
  const person = personNamed(reading, parameter, value.text);
  if (person !== null) return { gives: [{ parameter, value: person }], isTyped: true };
  const isName = value.kind === "word" && (parameter.link !== null || isAddress(parameter));
  if (isName) return { unusable: { parameter, said: value.text } };
  throw misread(reading, `"${value.text}" is not ${expected(parameter)}, as "${parameter.name}" asks for`);
}

const isAddress = (parameter: Parameter) => (parameter.shape ?? parameter.item?.shape) === "email";

/** The address of a person whom an earlier step made or found. */
export function personNamed(reading: Reading, parameter: Parameter, text: string): JsonValue | null {
  if (!isAddress(parameter)) return null;
  const [only, second] = stepsNamed(reading.steps, text).flatMap((step) => identityOf(parameter, step) ?? []);
  return second === undefined ? (only ?? null) : null;
}

/** What a parameter takes, as text: "an e-mail address", "one of low, high". */
export function expected(parameter: Parameter): string {
  if (parameter.choices) return `one of ${parameter.choices.slice(0, 10).map(String).join(", ")}`;
  const kind = parameter.item ?? parameter;
  const limits = Object.entries(kind.bounds).map(([bound, limit]) => `${LIMITS[bound] ?? bound} ${limit}`);
  return [FORMS[kind.shape ?? kind.type], ...limits].join(" ");
}

const LIMITS: Readonly<Record<string, string>> = {
  minimum: "from",
  exclusiveMinimum: "above",
  maximum: "up to",
  exclusiveMaximum: "below",
};

const FORMS: Readonly<Record<NonNullable<Parameter["shape"]> | Parameter["type"], string>> = {
  email: "an e-mail address",
  url: "a web address",
  date: "a date (YYYY-MM-DD)",
  "date-time": "a date and time with its time zone (2026-01-31T09:00:00Z)",
  "local-date-time": "a date and time (2026-01-31T09:00:00)",
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
};
