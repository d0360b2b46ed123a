import { isExactNumber, stringifyExactJson } from "../json/exact-json.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { mapJson, type Place, placeKeys } from "../json/map-json.ts";
import { type Lookup, lookUp } from "../json/own-property.ts";
import type { PathSegment } from "../json/path.ts";
import { type PolicyInput, profileOptions } from "../policy/policy.ts";
import { type OutputText, type OutputTexts, textOfOutput } from "../tools/output-text.ts";
import { cachedStructure, followPath, type StructureCache } from "./follow-path.ts";
import { locateRoot, type Names } from "./locate-root.ts";
import type { TextReference } from "./read-reference.ts";
import {
  AmbiguousReferenceError,
  ForbiddenReferenceError,
  MissingFieldError,
  ResolvedTooLargeError,
  UnresolvedReferenceError,
} from "./reference-errors.ts";
import { scanText } from "./scan-text.ts";

/** Options of {@link resolveReferences}. */
export interface ResolveOptions {
  /** Outputs of steps by step id. A step without an entry has no output. */
  outputs: Lookup<JsonValue>;
  /**
   * Texts of outputs that tools returned as JSON text, by step id. Inside a text the output is inserted as
   * written. Default: none.
   */
  texts?: Lookup<OutputTexts> | undefined;
  /**
   * Called for a text that is exactly one reference to an output that a tool returned as JSON text: true
   * inserts the tool's text, false the value. `keys` is the path in the value that is resolved. Default: the
   * value.
   */
  wantsText?: ((keys: readonly (string | number)[], value: JsonValue, text: string) => boolean) | undefined;
  /**
   * Step ids by tool name, for references by tool; several ids make such a reference ambiguous. Default:
   * none.
   */
  aliases?: Lookup<string | readonly string[]> | undefined;
  /** Names inside a forEach and their values: the alias and `index`. They win over step ids. */
  scope?: Readonly<Record<string, JsonValue>> | undefined;
  /**
   * Only `onMissingField` and `onUnresolvedStep` matter, directly or by the profile; both default to `error`.
   */
  policy?: PolicyInput | undefined;
  /** Maximum number of characters and values that references may insert; default 64 Mi. */
  maxSize?: number | undefined;
  /**
   * True inserts lists and objects of the outputs themselves, each also where it is referred to again. Only
   * for a reader that changes nothing. Default: copies.
   */
  shares?: boolean | undefined;
}

/** A value with resolved references, and warnings for operators. */
export interface Resolved<Value extends JsonValue = JsonValue> {
  value: Value;
  /** One text for each reference that was kept unresolved, in document order, each once. */
  warnings: string[];
}

const DEFAULT_MAX_SIZE = 64 * 1024 * 1024;

/**
 * Resolves the references of a value. A text that is exactly one reference becomes the value with its JSON
 * type; inside a text values are interpolated, objects and lists as JSON. Inserted values are never scanned
 * again. The result shares nothing with `value` or, without `shares`, the outputs, and neither is changed. Takes time linear in
 * the sizes of value and result.
 * @throws {ReferenceError} for an unresolved reference that the policy does not allow
 */
export function resolveReferences(value: JsonObject, options: ResolveOptions): Resolved<JsonObject>;
export function resolveReferences(value: JsonValue, options: ResolveOptions): Resolved;
export function resolveReferences(value: JsonValue, options: ResolveOptions): Resolved {
  const resolver = createResolver(options);
  return { value: mapJson(value, resolver.fillIn), warnings: [...resolver.warnings] };
}

type Found =
  | { readonly found: true; readonly value: JsonValue; readonly written?: OutputTexts | undefined }
  | { readonly found: false };

function createResolver(options: ResolveOptions) {
  const { outputs, scope, maxSize = DEFAULT_MAX_SIZE } = options;
  const { onMissingField, onUnresolvedStep } = policyOf(options.policy);
  const cache: StructureCache = new Map();
  const texts = new Map<string, string>();
  const warnings = new Set<string>();
  let size = 0;
  const names: Names = {
    hasStep: (name) => lookUp(outputs, name) !== undefined,
    tools: options.aliases,
    hasScope: scope && ((name) => Object.hasOwn(scope, name)),
  };

  function find(reference: TextReference): Found {
    const { text, root } = reference;
    const located = locateRoot(root, reference.path, names);
    if (located.type === "forbidden")
      throw new ForbiddenReferenceError({ reference: text, key: located.key });
    if (located.type === "ambiguous") {
      const candidates = [...located.candidates];
      throw new AmbiguousReferenceError({ reference: text, root: located.name, candidates });
    }
    const source = located.type === "scope" ? scope?.[located.name] : sourceOf(located);
    if (located.type === "unknown" || source === undefined) {
      const error = new UnresolvedReferenceError({ reference: text, root: nameOf(located, root) });
      if (onUnresolvedStep === "error") throw error;
      return keep(error);
    }
    const missing = onMissingField === "null" ? "null" : "fail";
    const texts = located.type === "step" ? textsOf(located.name) : undefined;
    const isStructure = located.type === "step" && (texts === undefined || located.path.length > 0);
    const start = isStructure && typeof source === "string" ? cachedStructure(source, cache) : source;
    const followed = followPath(start, located.path, missing, cache);
    if (followed.found) return { ...followed, written: textsAt(texts, located.path) };
    if (onMissingField === "null") return { found: true, value: null };
    const error = new MissingFieldError({ reference: text, root: located.name, reason: followed.reason });
    if (onMissingField === "error") throw error;
    return keep(error);
  }

  function textsOf(name: string): OutputTexts | undefined {
    return options.texts && lookUp(options.texts, name);
  }

  function sourceOf(located: { type: string; name?: string }): JsonValue | undefined {
    return located.name === undefined ? undefined : lookUp(outputs, located.name);
  }

  function nameOf(located: { type: string; name?: string }, root: string): string {
    return located.name ?? root;
  }

  function keep(error: Error): Found {
    warnings.add(`${error.message}; its text is kept`);
    return { found: false };
  }

  function spend(amount: number, reference: TextReference): void {
    size += amount;
    if (size > maxSize) throw new ResolvedTooLargeError({ reference: reference.text, maxSize });
  }

  function copyOf(value: JsonValue, reference: TextReference): JsonValue {
    if (typeof value !== "object" || value === null) return value;
    spend(sizeOf(value, maxSize - size), reference);
    return options.shares ? value : mapJson(value, (text) => text);
  }

  function textOf(reference: TextReference): string {
    let text = texts.get(reference.text);
    if (text === undefined) {
      const found = find(reference);
      text = found.found ? printFound(found, reference) : reference.text;
      texts.set(reference.text, text);
    }
    spend(text.length, reference);
    return text;
  }

  function printFound({ value, written }: Found & { found: true }, reference: TextReference): string {
    return written === undefined || Array.isArray(written)
      ? printValue(value, reference, maxSize)
      : textOfOutput(value, written);
  }

  /** The value to insert: the tool's text if `wantsText` selects it. */
  function chosen({ value, written }: Found & { found: true }, place: Place | undefined): JsonValue {
    const { wantsText } = options;
    if (written === undefined || !wantsText) return value;
    const choose = (one: JsonValue, form: OutputText | null | undefined, keys: (string | number)[]) => {
      if (form === null || form === undefined) return one;
      const text = textOfOutput(one, form);
      return wantsText(keys, one, text) ? text : one;
    };
    const keys = placeKeys(place);
    if (!Array.isArray(written)) return choose(value, written, keys);
    return Array.isArray(value)
      ? value.map((item, index) => choose(item, written[index], [...keys, index]))
      : value;
  }

  function fillIn(text: string, place: Place | undefined): JsonValue {
    const scanned = scanText(text);
    if (!scanned) return text;
    const [only, ...others] = scanned.parts;
    if (only?.type === "reference" && others.length === 0) {
      const found = find(only);
      return found.found ? copyOf(chosen(found, place), only) : text;
    }
    return scanned.parts.map((part) => (part.type === "literal" ? part.text : textOf(part))).join("");
  }

  return { fillIn, warnings };
}

/**
 * The text as the tool wrote it, for the value at a path of a step's output: the output itself, or the data
 * of one item or all items of a forEach.
 */
function textsAt(texts: OutputTexts | undefined, path: readonly PathSegment[]): OutputTexts | undefined {
  if (texts === undefined || !Array.isArray(texts)) return path.length === 0 ? texts : undefined;
  const [results, item, data, ...deeper] = path;
  const isData = isKey(results, "results") && isKey(data, "data") && deeper.length === 0;
  if (!isData || item === undefined || item.type === "key") return undefined;
  return item.type === "all" ? texts : (texts[item.index] ?? undefined);
}

function isKey(segment: PathSegment | undefined, key: string): boolean {
  return segment?.type === "key" && segment.key === key;
}

function policyOf(policy: PolicyInput | undefined) {
  const preset = policy?.profile === undefined ? {} : profileOptions(policy.profile);
  return {
    onMissingField: policy?.onMissingField ?? preset.onMissingField ?? "error",
    onUnresolvedStep: policy?.onUnresolvedStep ?? preset.onUnresolvedStep ?? "error",
  };
}

/** Number of characters and values in a structure, counted up to one more than `enough`. */
function sizeOf(value: JsonValue, enough: number): number {
  let size = 0;
  const pending: JsonValue[] = [value];
  for (let next = pending.pop(); next !== undefined && size <= enough; next = pending.pop()) {
    size += typeof next === "string" ? 1 + next.length : 1;
    if (typeof next === "object" && next !== null) for (const item of Object.values(next)) pending.push(item);
  }
  return size;
}

function printValue(value: JsonValue, reference: TextReference, maxSize: number): string {
  if (typeof value === "string" && !isExactNumber(value)) return value;
  try {
    return stringifyExactJson(value);
  } catch (error) {
    // Nested too deeply for the stack, or too long for a string.
    throw new ResolvedTooLargeError({ reference: reference.text, maxSize }, error);
  }
}
