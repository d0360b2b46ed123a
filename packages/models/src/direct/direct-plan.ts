import {
  containsAsWords,
  exactAsText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import { searchWords } from "../retrieval/search-words.ts";
import { toolWordsOf } from "../words/tool-words.ts";
import { verbFit } from "../words/verbs.ts";
import { splitName } from "../words/word-forms.ts";

/** A call that a model made. */
export interface DirectCall {
  tool: ToolDescriptor;
  arguments: JsonObject;
}

/** Maximum of calls in one direct request. */
export const MAX_DIRECT_CALLS = 2;
/** Words of a request that need neither a call nor an argument. */
const POLITE = new Set(searchWords("show tell give me current currently today right know check"));

/**
 * True when the calls do everything that the request asks for, with values from the request only. Pure and
 * strict: false costs one more model call, because the request is then planned. Models that call tools expect
 * further turns, so they may make only the first of several calls, or invent values.
 * 1. There are one or two calls.
 * 2. Every word of the request belongs to a called tool, or is in an argument.
 * 3. Every value is in the request, in the caller's facts, or among the values that the tool's schema lists.
 */
export function isCompleteAnswer(
  query: string,
  calls: readonly DirectCall[],
  facts: JsonObject = {},
): boolean {
  if (calls.length === 0 || calls.length > MAX_DIRECT_CALLS) return false;
  return uncovered(query, calls).length === 0 && calls.every((call) => isGiven(query, call, facts));
}

function uncovered(query: string, calls: readonly DirectCall[]): string[] {
  const known = new Set(
    calls.flatMap(({ tool, arguments: args }) => [
      ...wordsOfTool(tool),
      ...searchWords(stringifyExactJson(args)),
    ]),
  );
  const verbs = calls.flatMap(({ tool }) => toolWordsOf(tool).verbs);
  const isVerbOfTool = (word: string) => verbs.some((verb) => verbFit(word, verb) > 0);
  return splitName(query.replace(/['’]s\b/g, "")).filter((word) =>
    searchWords(word).some((root) => !known.has(root) && !POLITE.has(root) && !isVerbOfTool(word)),
  );
}

function wordsOfTool({ name, title = "", description = "", inputSchema }: ToolDescriptor): string[] {
  const short = name.slice(name.lastIndexOf("/") + 1);
  const parameters = isJsonObject(inputSchema?.["properties"]) ? Object.keys(inputSchema["properties"]) : [];
  return [short, title, description.slice(0, 400), ...parameters].flatMap(searchWords);
}

/**
 * True when every value is in the request, the facts or the schema. For a boolean the request must contain
 * the words of its name.
 */
function isGiven(query: string, { tool, arguments: args }: DirectCall, facts: JsonObject): boolean {
  const given = normal([query, ...leavesOf(facts)].join("\n"));
  const allowed = new Set(listedValues(tool.inputSchema ?? {}));
  const isValueGiven = (value: JsonValue, name: string): boolean => {
    if (Array.isArray(value)) return value.every((each) => isValueGiven(each, name));
    if (isJsonObject(value)) return Object.entries(value).every(([key, each]) => isValueGiven(each, key));
    if (value === null || typeof value === "boolean")
      return searchWords(name).every((word) => searchWords(query).includes(word));
    return (
      containsAsWords(given, normal(String(exactAsText(value)))) ||
      (allowed.has(value) && isMentioned(query, value))
    );
  };
  return Object.entries(args).every(([name, value]) => isValueGiven(value, name));
}

/** Texts and numbers at any depth. */
function leavesOf(value: JsonValue): string[] {
  if (typeof value === "string" || typeof value === "number") return [String(exactAsText(value))];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

/**
 * True when the request mentions this allowed value: "high" is chosen by "highest priority", not by the model
 * alone.
 */
function isMentioned(query: string, value: string | number): boolean {
  const roots = searchWords(query);
  return searchWords(String(exactAsText(value))).some((word) =>
    roots.some((root) => root.startsWith(word) || word.startsWith(root)),
  );
}

/** Values of `enum` and `const`, a few levels deep. */
function listedValues(schema: JsonValue, level = 0): JsonValue[] {
  if (level > 6 || typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((each) => listedValues(each, level + 1));
  const listed = [...(Array.isArray(schema["enum"]) ? schema["enum"] : []), schema["const"] ?? null];
  return [...listed, ...Object.values(schema).flatMap((inner) => listedValues(inner, level + 1))].slice(
    0,
    500,
  );
}

const normal = (text: string) => text.normalize("NFKC").replace(/\s+/g, " ").trim().toLowerCase();
