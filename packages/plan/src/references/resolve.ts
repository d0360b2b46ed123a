/**
 * Fills references from outputs. One pass: what a tool returned is never scanned again. The result shares nothing with
 * the value or the outputs, and neither is modified.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Policy } from "../policy.ts";
import { structureOfText } from "../tool-result.ts";
import { ReferenceMissingError, ReferenceRefusedError, ReferenceUnresolvedError } from "./errors.ts";
import { type PathPart, type Reference, splitText } from "./scan.ts";

/** What references are filled from, and what to do where they cannot be. */
export interface ResolveOptions {
  /** Outputs of finished steps, by step id. */
  outputs: ReadonlyMap<string, JsonValue> | { readonly [stepId: string]: JsonValue };
  /** Step ids of a tool name, so that a tool name may stand for the one step that uses it. */
  stepsOfTool?: ((tool: string) => readonly string[]) | undefined;
  /** Names that exist inside a forEach: the alias and `index`. They hide steps of the same name. */
  scope?: Readonly<Record<string, JsonValue>> | undefined;
  /** Default: both "error". */
  policy?: Partial<Pick<Policy, "onMissingField" | "onUnresolvedStep">> | undefined;
}

/** A value without references, and what was not as it should be. */
export interface Resolution<Value extends JsonValue = JsonValue> {
  value: Value;
  /** In document order: what was kept or became null. */
  warnings: string[];
}

const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);
/** Absence, which is not null. */
const MISSING = Symbol("missing");

/**
 * Fills every reference in a value.
 * @throws {ReferenceUnresolvedError | ReferenceMissingError | ReferenceRefusedError}
 */
export function resolveReferences(value: JsonObject, options: ResolveOptions): Resolution<JsonObject>;
export function resolveReferences(value: JsonValue, options: ResolveOptions): Resolution;
export function resolveReferences(value: JsonValue, options: ResolveOptions): Resolution {
  const warnings: string[] = [];
  const parsedTexts = new Map<string, JsonValue>();

  function resolve(current: JsonValue): JsonValue {
    if (typeof current === "string") return resolveText(current);
    if (Array.isArray(current)) return current.map(resolve);
    if (!isJsonObject(current)) return current;
    return Object.fromEntries(Object.entries(current).map(([key, item]) => [key, resolve(item)]));
  }

  function resolveText(text: string): JsonValue {
    const parts = splitText(text);
    const [only] = parts;
    if (parts.length === 1 && only && "reference" in only) return lookUp(only.reference);
    const pieces = parts.map((part) => ("literal" in part ? part.literal : asText(lookUp(part.reference))));
    return pieces.join("");
  }

  function lookUp(reference: Reference): JsonValue {
    const root = rootValue(reference);
    if (root === MISSING) return onUnresolved(reference);
    const found = follow(root, reference.path, reference);
    return found === MISSING ? onMissing(reference, root) : structuredClone(found);
  }

  function rootValue(reference: Reference): JsonValue | typeof MISSING {
    const { root } = reference;
    if (options.scope && Object.hasOwn(options.scope, root)) return options.scope[root] ?? null;
    const own = outputOf(root);
    if (own !== MISSING) return structured(root, own, reference.path);
    const steps = options.stepsOfTool?.(root) ?? [];
    if (steps.length > 1) {
      throw new ReferenceRefusedError(
        `${reference.text} is ambiguous: the tool ${root} is used by the steps ${steps.join(", ")}; name one of them`,
        { reference: reference.text, root, candidates: steps },
      );
    }
    const [step] = steps;
    if (step === undefined) return MISSING;
    const output = outputOf(step);
    return output === MISSING ? MISSING : structured(step, output, reference.path);
  }

  /** Only own entries: `constructor` is not an output. */
  function outputOf(stepId: string): JsonValue | typeof MISSING {
    const { outputs } = options;
    if (isMap(outputs)) return outputs.has(stepId) ? (outputs.get(stepId) ?? null) : MISSING;
    return Object.hasOwn(outputs, stepId) ? (outputs[stepId] ?? null) : MISSING;
  }

  /** A text output that is an object or array counts as structure when a path goes into it. */
  function structured(stepId: string, output: JsonValue, path: readonly PathPart[]): JsonValue {
    if (typeof output !== "string" || path.length === 0) return output;
    const parsed = parsedTexts.get(stepId) ?? structureOfText(output);
    parsedTexts.set(stepId, parsed);
    return parsed;
  }

  function onUnresolved(reference: Reference): JsonValue {
    const message = `${reference.text}: step ${reference.root} has no output`;
    if (options.policy?.onUnresolvedStep !== "keep") {
      throw new ReferenceUnresolvedError(message, { reference: reference.text, root: reference.root });
    }
    warnings.push(`${message}; the text was kept`);
    return reference.text;
  }

  function onMissing(reference: Reference, root: JsonValue): JsonValue {
    const candidates = isJsonObject(root) ? Object.keys(root).slice(0, 20) : undefined;
    const has = candidates ? `; it has ${candidates.join(", ") || "no fields"}` : "";
    const message = `${reference.text}: the output of ${reference.root} has no such field${has}`;
    switch (options.policy?.onMissingField ?? "error") {
      case "error":
        throw new ReferenceMissingError(message, {
          reference: reference.text,
          root: reference.root,
          candidates,
        });
      case "null":
        warnings.push(`${message}; null was put in its place`);
        return null;
      case "keep":
        warnings.push(`${message}; the text was kept`);
        return reference.text;
    }
  }

  return { value: resolve(value), warnings };
}

/** Follows a path through own properties. `[*]` maps a list; items without the rest of the path make it missing. */
function follow(
  from: JsonValue,
  path: readonly PathPart[],
  reference: Reference,
): JsonValue | typeof MISSING {
  let current: JsonValue = from;
  for (const [position, part] of path.entries()) {
    if (part.type === "every") {
      if (!Array.isArray(current)) return MISSING;
      const rest = path.slice(position + 1);
      const items: JsonValue[] = [];
      for (const item of current) {
        const found = follow(item, rest, reference);
        if (found === MISSING) return MISSING;
        items.push(found);
      }
      return items;
    }
    const next = stepInto(current, part, reference);
    if (next === MISSING) return MISSING;
    current = next;
  }
  return current;
}

function stepInto(
  value: JsonValue,
  part: Exclude<PathPart, { type: "every" }>,
  reference: Reference,
): JsonValue | typeof MISSING {
  const name = part.type === "index" ? String(part.index) : part.name;
  if (FORBIDDEN.has(name)) {
    throw new ReferenceRefusedError(`${reference.text}: ${name} cannot be referred to`, {
      reference: reference.text,
      root: reference.root,
    });
  }
  if (Array.isArray(value))
    return part.type === "index" && part.index < value.length ? (value[part.index] ?? null) : MISSING;
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return MISSING;
  return value[name] ?? null;
}

/** Inside text: texts as they are, everything else as JSON. */
function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isMap(outputs: ResolveOptions["outputs"]): outputs is ReadonlyMap<string, JsonValue> {
  return outputs instanceof Map;
}
