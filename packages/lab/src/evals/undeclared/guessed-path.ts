import { isJsonObject, type JsonValue, type PathSegment } from "@planwright/plan";
import { fractionOf } from "../../random/hash.ts";

/** The subject of a guess: the case, and the tool whose fields the prompt does not show. */
export interface Guessing {
  caseId: string;
  tool: string;
}

/**
 * How a model guesses names that the prompt does not show. Each tool in a case has one habit. One in six is
 * right.
 */
const HABITS = ["right", "other name", "other case", "wrapped", "other list", "whole output"] as const;

/**
 * The path that a model writes when it means `path`. Shown names are kept. The first name that is not shown
 * and those after it are written by the model's habit.
 * @param shape - the tool's output in the short form of prompts; undefined: the prompt does not show it
 */
export function guessedPath(
  path: readonly PathSegment[],
  shape: JsonValue | undefined,
  guessing: Guessing,
): PathSegment[] {
  const shown = shownLength(path, shape);
  if (shown === path.length) return [...path];
  const guessed = path.slice(shown);
  const habit = HABITS[Math.floor(fractionOf(guessing.caseId, guessing.tool) * HABITS.length)] ?? "right";
  if (habit === "whole output" && shown === 0) return [];
  const isList = guessed.some(({ type }) => type !== "key");
  const wrapper = key(fractionOf(guessing.tool) < 0.5 ? "data" : "result");
  const before = habit === "wrapped" && shown === 0 ? [wrapper] : [];
  const names = guessed.map((segment, at) => {
    if (segment.type !== "key" || habit === "right") return segment;
    const isListName = guessed[at + 1] !== undefined && guessed[at + 1]?.type !== "key";
    if (habit === "other list" && isList) return isListName ? key("items") : segment;
    if (habit === "other case") return key(inOtherCase(segment.key, guessing.tool));
    return habit === "wrapped" && shown === 0 ? segment : key(otherName(segment.key, guessing.tool));
  });
  return [...path.slice(0, shown), ...before, ...names];
}

/** A mistake of a model that was shown the names: the last name is changed or left out. */
export function slippedPath(path: readonly PathSegment[], { caseId, tool }: Guessing): PathSegment[] {
  const last = path.at(-1);
  if (last?.type !== "key") return [...path];
  const slip = Math.floor(fractionOf("which slip", caseId, tool) * 3);
  if (slip === 0) return path.slice(0, -1);
  const slipped = slip === 1 ? otherName : inOtherCase;
  return [...path.slice(0, -1), key(slipped(last.key, tool))];
}

/** Number of segments at the start of the path that are shown. */
function shownLength(path: readonly PathSegment[], shape: JsonValue | undefined): number {
  let at = shape;
  for (const [index, segment] of path.entries()) {
    if (segment.type === "key")
      at = isJsonObject(at) ? (at[segment.key] ?? at[`${segment.key}?`]) : undefined;
    else at = Array.isArray(at) ? at[0] : undefined;
    if (at === undefined) return index;
  }
  return path.length;
}

const key = (name: string): PathSegment => ({ type: "key", key: name });

/** The name that a model writes instead: `id` for `ticket_id` or `_id`, `ticket_title` for `title`. */
function otherName(name: string, tool: string): string {
  if (/.(_id|Id)$/.test(name) || name === "_id") return "id";
  const noun = nounOf(tool);
  return /[a-z][A-Z]/.test(tool)
    ? `${noun}${name.charAt(0).toUpperCase()}${name.slice(1)}`
    : `${noun}_${name}`;
}

/** `ticketId` for `ticket_id`, and the reverse. A single word becomes {@link otherName}. */
function inOtherCase(name: string, tool: string): string {
  const camel = name.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (camel !== name) return camel;
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return snake === name ? otherName(name, tool) : snake;
}

/** The noun in a tool's name: `ticket` of find_tickets. */
function nounOf(tool: string): string {
  const words = tool.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split(/[^a-z0-9]+/);
  return (words.at(-1) ?? tool).replace(/s$/, "");
}
