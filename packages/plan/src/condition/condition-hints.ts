import { cut } from "../diagnostics/diagnostic-collector.ts";
import { exactNumberOf, stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    eq: "= == === equal equals equalto is isequal isequalto",
    ne: "!= !== <> neq notequal notequals notequalto isnot doesnotequal",
    lt: "< less lessthan below under smaller smallerthan islessthan",
    lte: "<= le lessorequal lessthanorequal lessthanorequalto atmost max",
    gt: "> greater greaterthan above over larger largerthan more morethan isgreaterthan",
    gte: ">= ge greaterorequal greaterthanorequal greaterthanorequalto atleast min",
    in: "oneof isin anyof isoneof",
    contains: "include includes has hasitem containsitem",
    startsWith: "beginswith prefix startwith",
    exists: "isdefined defined isset isnotnull present",
    empty: "isempty isnull isnone isblank",
    all: "and && every",
    any: "or || some",
    not: "! none negate",
  }).flatMap(([operator, names]) => names.split(" ").map((name) => [name, operator])),
);

/** The operator for a name from other languages: `<`, `$lt`, `less_than`, `and`. */
export function operatorMeant(name: string): string | undefined {
  if (name.length > 40) return undefined;
  const plain = name.toLowerCase().replace(/[$_\s-]/g, "");
  return OTHER_NAMES.get(plain);
}

const LEFT = ["left", "field", "value1", "variable", "path", "lhs", "key", "operand1"];
const OPERATOR = ["operator", "op", "comparison", "type"];
const RIGHT = ["right", "value", "value2", "rhs", "operand2", "compareTo"];

/**
 * The condition for an object with several fields, one of which names an operator; undefined for any other
 * object.
 */
export function conditionMeant(parts: JsonObject, operators: readonly string[]): string | undefined {
  const of = (names: readonly string[]) => {
    const name = names.find((each) => Object.hasOwn(parts, each));
    return name === undefined ? undefined : parts[name];
  };
  const [left, named, right] = [of(LEFT), of(OPERATOR), of(RIGHT)];
  if (typeof named !== "string") return undefined;
  const operator = operators.includes(named) ? named : operatorMeant(named);
  if (operator === undefined || left === undefined || right === undefined) return undefined;
  return written({ [operator]: [left, right] });
}

/** The condition for a comparison in words or signs, such as `<<a.n>> < 10`; undefined for any other text. */
export function comparisonMeant(text: string): string | undefined {
  if (text.length > 200) return undefined;
  const parts = text.trim().split(/\s+/);
  const [left, sign, right] = parts;
  const operator = parts.length === 3 && sign !== undefined ? operatorMeant(sign) : undefined;
  if (operator === undefined || left === undefined || right === undefined) return undefined;
  return written({ [operator]: [left, literal(right)] });
}

function literal(text: string): JsonValue {
  const bare = /^(['"])(.*)\1$/.exec(text)?.[2];
  if (bare !== undefined) return bare;
  if (text === "true" || text === "false") return text === "true";
  const number = exactNumberOf(text);
  return typeof number === "string" || (Number.isFinite(number) && text !== "") ? number : text;
}

const written = (condition: JsonValue) =>
  isJsonObject(condition) ? cut(stringifyExactJson(condition), 160) : "";
