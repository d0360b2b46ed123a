import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  standsAsWhole,
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

/** Calls that one plain request may make. */
export const MAX_DIRECT_CALLS = 2;
/** Words of a request that need no call and no argument. */
const POLITE = new Set(searchWords("show tell give me current currently today right know check"));

/**
 * True when the calls do all that the request asks for and hold nothing that it does not say. Pure and
 * strict: false costs one more model call, because the request is planned then. Models that call tools expect
 * further turns: they make the first of several calls, and fill in values that they were not told.
 * 1. There are one or two calls. 2. Every word of the request stands for a called tool, or is in an argument.
 *    3. Every value stands in the request or in the caller's facts, or is one of those that the tool's schema
 *    lists.
 */
export function isWholeAnswer(query: string, calls: readonly DirectCall[], facts: JsonObject = {}): boolean {
  if (calls.length === 0 || calls.length > MAX_DIRECT_CALLS) return false;
  return uncovered(query, calls).length === 0 && calls.every((call) => isGiven(query, call, facts));
}

function uncovered(query: string, calls: readonly DirectCall[]): string[] {
  const known = new Set(
    calls.flatMap(({ tool, arguments: args }) => [
      ...wordsOfTool(tool),
      ...searchWords(JSON.stringify(args)),
    ]),
  );
  const verbs = calls.flatMap(({ tool }) => toolWordsOf(tool).verbs);
  const isMeant = (word: string) => verbs.some((verb) => verbFit(word, verb) > 0);
  return splitName(query.replace(/['’]s\b/g, "")).filter((word) =>
    searchWords(word).some((root) => !known.has(root) && !POLITE.has(root) && !isMeant(word)),
  );
}

function wordsOfTool({ name, title = "", description = "", inputSchema }: ToolDescriptor): string[] {
  const short = name.slice(name.lastIndexOf("/") + 1);
  const parameters = isJsonObject(inputSchema?.["properties"]) ? Object.keys(inputSchema["properties"]) : [];
  return [short, title, description.slice(0, 400), ...parameters].flatMap(searchWords);
}

/**
 * True when every value is in the request or in the schema. For a boolean the request must mention what it is
 * about.
 */
function isGiven(query: string, { tool, arguments: args }: DirectCall, facts: JsonObject): boolean {
  const said = normal([query, ...leavesOf(facts)].join("\n"));
  const allowed = new Set(listedValues(tool.inputSchema ?? {}));
  const isSaid = (value: JsonValue, name: string): boolean => {
    if (Array.isArray(value)) return value.every((each) => isSaid(each, name));
    if (isJsonObject(value)) return Object.entries(value).every(([key, each]) => isSaid(each, key));
    if (value === null || typeof value === "boolean")
      return searchWords(name).every((word) => searchWords(query).includes(word));
    return standsAsWhole(said, normal(String(value))) || (allowed.has(value) && isSpokenOf(query, value));
  };
  return Object.entries(args).every(([name, value]) => isSaid(value, name));
}

/** Texts and numbers at any depth. */
function leavesOf(value: JsonValue): string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

/**
 * An allowed value is chosen by the request, not by the model: "high" for "highest priority", not for nothing
 * at all.
 */
function isSpokenOf(query: string, value: string | number): boolean {
  const roots = searchWords(query);
  return searchWords(String(value)).some((word) =>
    roots.some((root) => root.startsWith(word) || word.startsWith(root)),
  );
}

/** Values of `enum` and `const`, a few levels deep. */
function listedValues(schema: JsonValue, level = 0): JsonValue[] {
  if (level > 6 || typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((each) => listedValues(each, level + 1));
  const own = [...(Array.isArray(schema["enum"]) ? schema["enum"] : []), schema["const"] ?? null];
  return [...own, ...Object.values(schema).flatMap((inner) => listedValues(inner, level + 1))].slice(0, 500);
}

const normal = (text: string) => text.normalize("NFKC").replace(/\s+/g, " ").trim().toLowerCase();
