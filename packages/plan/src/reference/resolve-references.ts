import { CodedError } from "../document/diagnostic.ts";
import { outputParts, outputSteps, type Plan } from "../document/plan.ts";
import { type PolicyInput, profileOptions } from "../document/policy.ts";
import { isExactNumber, stringifyExactJson } from "../json/exact-json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Lookup,
  lookUp,
  mapJson,
  type PathSegment,
  type Place,
  placeKeys,
  setOwn,
} from "../json/json.ts";
import { type OutputText, type OutputTexts, structureOfText, textOfOutput } from "../tools/tool-result.ts";
import { locateRoot, type Names, scanReferences, scanText, type TextReference } from "./read-reference.ts";

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

/** The result of following a path; the value is part of the source, not a copy. */
type Followed =
  | { readonly found: true; readonly value: JsonValue }
  | { readonly found: false; readonly reason: string };

/** Texts that were already parsed as JSON: a large text output is parsed once for all references to it. */
export type StructureCache = Map<string, JsonValue>;

/**
 * The object or list of a JSON text; any other text (`007`, `NaN`, `+5`, `true`) stays text. Parses each text
 * once.
 */
export function cachedStructure(text: string, cache: StructureCache): JsonValue {
  let structure = cache.get(text);
  if (structure === undefined) {
    structure = structureOfText(text);
    cache.set(text, structure);
  }
  return structure;
}

/**
 * The list that a value is for a reader that asks for one (`[0]`, `[*]`, the items of a forEach): servers
 * unwrap a list of one to its item, and answer null for an empty list. Undefined for every other value that
 * is no list: a text or a number says rather something else.
 */
export function readAsList(value: JsonValue): readonly JsonValue[] | undefined {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : undefined;
}

/**
 * Follows a path into a value: own properties of objects and indexes of lists, never inherited properties.
 * `[*]` visits every item and returns a list. A JSON text of an object or list on the path is parsed. One
 * object is a list of one where the path asks for a list, see {@link readAsList}. A name in a list of content
 * blocks is looked up in the one block that is the JSON text of an object: the others are notes, images, links.
 * @param missing - `null` gives null for an item of a `[*]` without the field; `fail` makes the complete path
 *   fail
 */
export function followPath(
  value: JsonValue,
  path: readonly PathSegment[],
  missing: "fail" | "null",
  cache: StructureCache,
): Followed {
  let current = value;
  for (const [position, segment] of path.entries()) {
    if (typeof current === "string") current = cachedStructure(current, cache);
    if (segment.type === "all") {
      return followAll(current, path.slice(position + 1), missing, cache);
    }
    const next: JsonValue | undefined = fieldOf(onlyJsonOf(current, segment, cache), segment);
    if (next === undefined) return { found: false, reason: reasonOf(current, segment) };
    current = next;
  }
  return { found: true, value: current };
}

function onlyJsonOf(value: JsonValue, segment: PathSegment, cache: StructureCache): JsonValue {
  if (segment.type !== "key" || !Array.isArray(value)) return value;
  const objects: JsonValue[] = [];
  for (const block of value) {
    if (!isJsonObject(block) || typeof block["type"] !== "string") return value;
    const { type, text } = block;
    const structure = type === "text" && typeof text === "string" ? cachedStructure(text, cache) : null;
    if (isJsonObject(structure)) objects.push(structure);
  }
  return objects.length === 1 && objects[0] !== undefined ? objects[0] : value;
}

function followAll(
  value: JsonValue,
  rest: readonly PathSegment[],
  missing: "fail" | "null",
  cache: StructureCache,
): Followed {
  const list = readAsList(value);
  if (!list) return { found: false, reason: `[*] needs a list, and there is ${kindOf(value)}` };
  const values: JsonValue[] = [];
  for (const [index, item] of list.entries()) {
    const followed = followPath(item, rest, missing, cache);
    if (followed.found) values.push(followed.value);
    else if (missing === "null") values.push(null);
    else return { found: false, reason: `item ${index}: ${followed.reason}` };
  }
  return { found: true, value: values };
}

function fieldOf(value: JsonValue, segment: Exclude<PathSegment, { type: "all" }>): JsonValue | undefined {
  if (Array.isArray(value)) return segment.type === "index" ? value[segment.index] : undefined;
  if (!isJsonObject(value)) return undefined;
  const key = segment.type === "index" ? String(segment.index) : segment.key;
  if (Object.hasOwn(value, key)) return value[key];
  return segment.type === "index" ? readAsList(value)?.[segment.index] : undefined;
}

function reasonOf(value: JsonValue, segment: Exclude<PathSegment, { type: "all" }>): string {
  const name = segment.type === "index" ? `[${segment.index}]` : `"${segment.key}"`;
  if (Array.isArray(value)) return `there is no ${name} in a list of ${value.length}`;
  if (!isJsonObject(value)) return `there is no ${name} in ${kindOf(value)}`;
  const keys = Object.keys(value);
  const known = keys.slice(0, 10).join(", ") + (keys.length > 10 ? ", ..." : "");
  return `there is no ${name}; there is ${known === "" ? "an empty object" : known}`;
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value === "string" ? "text" : typeof value}`;
}

/**
 * A reference to a step (or alias) without an output: it does not exist, failed, was skipped or has not
 * ended.
 */
export class UnresolvedReferenceError extends CodedError<{ reference: string; root: string }> {
  readonly code = "REFERENCE_UNRESOLVED";
  readonly retryable = false;
  constructor(facts: { reference: string; root: string }) {
    super(`Reference ${facts.reference} cannot be resolved: step ${facts.root} has no output`, facts);
  }
}

/** A reference to a missing field of an output. */
export class MissingFieldError extends CodedError<{ reference: string; root: string; reason: string }> {
  readonly code = "REFERENCE_MISSING";
  readonly retryable = false;
  constructor(facts: { reference: string; root: string; reason: string }) {
    super(`Reference ${facts.reference} finds nothing: ${facts.reason}`, facts);
  }
}

/** A reference by the name of a tool that several steps use. */
class AmbiguousReferenceError extends CodedError<{
  reference: string;
  root: string;
  candidates: string[];
}> {
  readonly code = "REFERENCE_AMBIGUOUS";
  readonly retryable = false;
  constructor(facts: { reference: string; root: string; candidates: string[] }) {
    super(
      `Reference ${facts.reference} is ambiguous: tool ${facts.root} is used by the steps ${facts.candidates.join(", ")}; use a step id`,
      facts,
    );
  }
}

/** A reference to `__proto__`, `constructor` or `prototype`. No policy allows it. */
class ForbiddenReferenceError extends CodedError<{ reference: string; key: string }> {
  readonly code = "REFERENCE_FORBIDDEN";
  readonly retryable = false;
  constructor(facts: { reference: string; key: string }) {
    super(`Reference ${facts.reference} is refused: ${facts.key} is not a field of data`, facts);
  }
}

/** Resolving the references would make a value larger than allowed. */
class ResolvedTooLargeError extends CodedError<{ reference: string; maxSize: number }> {
  readonly code = "REFERENCE_TOO_LARGE";
  readonly retryable = false;
  constructor(facts: { reference: string; maxSize: number }, cause?: unknown) {
    super(`Filling in ${facts.reference} makes the value larger than ${facts.maxSize} characters`, facts, {
      cause,
    });
  }
}

/** A part that is left out of the outputs. */
export interface OmittedOutput {
  name: string;
  /** Ids of the steps that it refers to. */
  steps: string[];
  /** Message of the first unresolved reference. */
  message: string;
}

/** The outputs of a plan, by step id or by the name of the part, and the parts that were left out. */
export interface ResolvedOutputs {
  outputs: JsonObject;
  leftOut: OmittedOutput[];
}

/** {@link ResolvedOutputs} to which parts are added one by one. */
export interface GrowingOutputs extends ResolvedOutputs {
  /** Remaining characters of JSON for further parts. */
  room: number;
}

/** Maximum total characters of JSON of all parts. */
const MAX_PARTS_SIZE = 16 * 1024 * 1024;

/** Outputs without a part. */
export function emptyOutputs(): GrowingOutputs {
  return { outputs: {}, leftOut: [], room: MAX_PARTS_SIZE };
}

/**
 * The requested outputs of a plan: outputs of its steps by id, or its parts with resolved references. A step
 * without an output is left out. A part is left out when one of its references cannot be resolved, even if
 * the policy keeps such references in arguments; only `onMissingField: "null"` gives null. Pure.
 * @param known - outputs of completed steps, by id
 * @param texts - texts of outputs that tools returned as JSON text
 */
export function resolveOutputs(
  plan: Pick<Plan, "steps" | "outputs" | "policy">,
  known: Lookup<JsonValue>,
  texts?: Lookup<OutputTexts>,
): ResolvedOutputs {
  const parts = outputParts(plan.outputs);
  if (parts) return resolveParts(parts, plan, { outputs: known, texts });
  const outputs: JsonObject = {};
  for (const id of outputSteps(plan.outputs) ?? plan.steps.map((step) => step.id)) {
    const output = lookUp(known, id);
    if (output !== undefined) setOwn(outputs, id, output);
  }
  return { outputs, leftOut: [] };
}

function resolveParts(
  parts: JsonObject,
  { policy }: Pick<Plan, "policy">,
  known: KnownOutputs,
): ResolvedOutputs {
  const resolved = emptyOutputs();
  for (const [name, part] of Object.entries(parts)) addPart(resolved, { name, part, policy }, known);
  return { outputs: resolved.outputs, leftOut: resolved.leftOut };
}

type KnownOutputs = Pick<ResolveOptions, "outputs" | "texts">;

/**
 * Adds a part with resolved references, or records it as left out. Its size counts against the total of all
 * parts.
 */
export function addPart(
  resolved: GrowingOutputs,
  { name, part, policy }: { name: string; part: JsonValue } & Pick<Plan, "policy">,
  known: KnownOutputs,
): void {
  const onMissingField = policy.onMissingField === "null" ? "null" : "error";
  try {
    const { value } = resolveReferences(part, {
      ...known,
      policy: { onMissingField, onUnresolvedStep: "error" },
      maxSize: resolved.room,
    });
    resolved.room -= Math.min(resolved.room, JSON.stringify(value).length);
    setOwn(resolved.outputs, name, value);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const steps = [...new Set(scanReferences(part).map(({ root }) => root))];
    resolved.leftOut.push({ name, steps, message: error.message });
  }
}
