/**
 * JSON Patch (RFC 6902) from clients. A library applies the operations; this file first refuses operations
 * that the library would accept: positions in inherited values (which all values of the process share), the
 * length of a list, copies without a limit, and comparisons whose cost is the product of two lists.
 */
import { isDeepStrictEqual } from "node:util";
import { findUnfit, hasPlaceholder, type JsonValue, PLACEHOLDER, unfitText } from "@planwright/plan";
import { applyPatch as apply, type Operation } from "rfc6902";
import { z } from "zod";
import { BadInputError } from "../errors/api-error.ts";
import { quoted } from "./text.ts";

/** Most operations of a patch. */
export const MAX_OPERATIONS = 100;
/** Largest patch as JSON, and most that its operations copy or move together, in bytes. */
const MAX_BYTES = 1_048_576;

const PointerSchema = z
  .string()
  .max(2_000)
  .regex(/^(\/[^\0]*)?$/, "not a JSON Pointer, such as /steps/0/arguments");
const ValueSchema = z.custom<JsonValue>((value) => value !== undefined, "value is missing");
const OperationSchema = z.discriminatedUnion("op", [
  z.object({ op: z.literal("add"), path: PointerSchema, value: ValueSchema }),
  z.object({ op: z.literal("remove"), path: PointerSchema }),
  z.object({ op: z.literal("replace"), path: PointerSchema, value: ValueSchema }),
  z.object({ op: z.literal("move"), from: PointerSchema, path: PointerSchema }),
  z.object({ op: z.literal("copy"), from: PointerSchema, path: PointerSchema }),
  z.object({ op: z.literal("test"), path: PointerSchema, value: ValueSchema }),
]);
/** One operation of a patch. */
export type PatchOperation = z.infer<typeof OperationSchema>;

/** A patch in the form of RFC 6902. @throws {BadInputError} that names the operation */
export function parsePatch(given: unknown): PatchOperation[] {
  checkJsonShape("patch", given);
  checkFilledIn("patch", given);
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_OPERATIONS) {
    throw new BadInputError(
      "patch",
      `The patch is not a list of 1 to ${MAX_OPERATIONS} operations`,
      'Give JSON Patch (RFC 6902), such as [{"op": "replace", "path": "/steps/0/arguments/title", "value": "Hello"}].',
    );
  }
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_BYTES) {
    throw new BadInputError(
      "patch",
      `The patch is larger than ${MAX_BYTES} bytes`,
      "Give the complete plan.",
    );
  }
  return given.map((one: unknown, index) => {
    const parsed = OperationSchema.safeParse(one);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw refused(index, `is not one of RFC 6902: ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
  });
}

/**
 * A copy of the document with all operations applied, one after another.
 * @throws {BadInputError} that names the operation
 */
export function applyPatch(document: object, patch: readonly PatchOperation[]): JsonValue {
  // The root is a member, so that an operation may change the complete document.
  const root: JsonValue = JSON.parse(JSON.stringify(document));
  const holder = { root };
  let carriedBytes = 0;
  for (const [index, operation] of patch.entries()) {
    const problem = problemOf(holder, operation);
    if (problem) throw refused(index, `(${nameOf(operation)}) ${problem}`);
    if (operation.op === "test") continue;
    if ("from" in operation) {
      const value = find(holder, tokensOf(operation.from)) as JsonValue;
      carriedBytes += Buffer.byteLength(JSON.stringify(value));
      if (carriedBytes > MAX_BYTES) throw refused(index, `(${nameOf(operation)}) copies too much`);
      if (depthOf(value) + tokensOf(operation.path).length > MAX_DEPTH)
        throw refused(index, `(${nameOf(operation)}) makes the plan deeper than ${MAX_DEPTH} levels`);
    }
    const [error] = apply(holder, [rooted(operation)]);
    if (error) throw refused(index, `(${nameOf(operation)}) cannot be applied`);
  }
  return holder.root;
}

const rooted = (operation: PatchOperation): Operation => ({
  ...operation,
  path: `/root${operation.path}`,
  ...("from" in operation && { from: `/root${operation.from}` }),
});

/** Why an operation cannot be applied; null when it can be. Pure. */
function problemOf(holder: object, operation: PatchOperation): string | null {
  const { op } = operation;
  const path = tokensOf(operation.path);
  const from = "from" in operation ? tokensOf(operation.from) : null;
  const forbidden = [...path, ...(from ?? [])].find((token) => FORBIDDEN.has(token));
  if (forbidden) return `names ${forbidden}, which no plan has`;
  if (path.length > MAX_DEPTH) return `reaches deeper than ${MAX_DEPTH} levels`;
  if (from && find(holder, from) === undefined) return "takes a value from a position that does not exist";
  if (op === "move" && operation.path.startsWith(`${operation.from}/`)) return "moves a value into itself";
  if (op === "move" && operation.from === "") return "moves the complete plan";
  if (op === "remove" && operation.path === "") return "removes the complete plan";
  if (op === "add" || op === "move" || op === "copy")
    return canHold(holder, path) ? null : "names a position that does not exist";
  const value = find(holder, path);
  if (value === undefined) return "names a value that does not exist";
  if (op !== "test" || isDeepStrictEqual(value, operation.value)) return null;
  return "tests for another value than the current one";
}

/** Names of members that all values share. */
const FORBIDDEN: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const INDEX = /^(0|[1-9]\d{0,9})$/;

/** The members on the path to a position, from the root. @see RFC 6901 */
function tokensOf(pointer: string): string[] {
  const names = pointer.split("/").slice(1);
  return ["root", ...names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))];
}

/** The value at a position, without inherited members; undefined if there is none. */
function find(holder: object, tokens: readonly string[]): unknown {
  return tokens.reduce<unknown>((value, token) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return undefined;
    return Array.isArray(value) && !INDEX.test(token) ? undefined : Reflect.get(value, token);
  }, holder);
}

/** True when a value can be put at a position: a member of an object, or an index or the end of a list. */
function canHold(holder: object, tokens: readonly string[]): boolean {
  const parent = find(holder, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? "";
  if (tokens.length === 1) return true;
  if (Array.isArray(parent)) return last === "-" || (INDEX.test(last) && Number(last) <= parent.length);
  return typeof parent === "object" && parent !== null;
}

/** Levels of a value: 0 for a value without members. */
function depthOf(value: JsonValue): number {
  let depth = 0;
  for (let level = membersOf(value); level.length > 0; level = level.flatMap(membersOf)) depth += 1;
  return depth;
}

const membersOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];

function nameOf({ op, path }: PatchOperation): string {
  return `${op} ${path === "" ? "the complete plan" : quoted(path)}`;
}

function refused(index: number, problem: string): BadInputError {
  return new BadInputError(
    `patch[${index}]`,
    `Operation ${index} of the patch ${problem}: nothing was stored`,
    "Correct it: a patch is applied to the document of the plan, plan { document }, one operation after another from 0.",
  );
}

/** MongoDB allows 100 levels; the plan language allows fewer and reports where. */
const MAX_DEPTH = 90;

/**
 * Checks depth and keys of a JSON value from a client, before other code reads it. Without
 * recursion, so that deep nesting cannot exhaust the stack.
 * @param argument - name of the argument, such as "plan"
 * @throws {BadInputError}
 */
export function checkJsonShape(argument: string, value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new BadInputError(
        argument,
        `The ${argument} is nested more than ${MAX_DEPTH} levels deep`,
        "Make it flatter.",
      );
    }
    level = level.flatMap((one) => childrenOf(argument, one));
  }
}

/**
 * Refuses what would be lost or changed on its way to a tool, by its path (`UnfitPart`).
 * In a plan, its validation reports these.
 * @param argument - name of the argument, such as "arguments"
 * @throws {BadInputError}
 */
export function requireFit(argument: string, value: unknown): void {
  const unfit = findUnfit(value);
  if (unfit) throw new BadInputError(argument, unfitText(unfit), "Correct it, and send the rest as it is.");
}

function childrenOf(argument: string, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (Object.keys(value).some((key) => key.includes("\0"))) {
    throw new BadInputError(
      argument,
      `A key of the ${argument} contains a NUL character`,
      "Remove it from the key.",
    );
  }
  return Object.values(value).filter((child) => typeof child === "object" && child !== null);
}

/**
 * Refuses a value in which a placeholder was left: it was copied from an action of a diagnosis and not filled
 * in. Call {@link checkJsonShape} first.
 * @throws {BadInputError}
 */
export function checkFilledIn(argument: string, value: unknown): void {
  if (!hasPlaceholder(value)) return;
  throw new BadInputError(
    argument,
    `In ${argument} a placeholder is left: ${PLACEHOLDER} stands for a value`,
    `Write the value in place of ${PLACEHOLDER}.`,
  );
}
