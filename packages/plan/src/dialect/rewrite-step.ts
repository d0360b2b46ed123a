import { cut, type DiagnosticCollector, didYouMean } from "../document/diagnostic.ts";
import { argumentKeys, type Condition, type DraftStep } from "../document/plan.ts";
import type { Policy } from "../document/policy.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  mapJson,
  type PathSegment,
  type Place,
  placeKeys,
  printReference,
  setOwn,
  visitTexts,
} from "../json/json.ts";
import {
  type Located,
  locateRoot,
  type Names,
  scanText,
  type TextReference,
} from "../reference/read-reference.ts";
import { type SchemaAtPath, schemaAtPath, typesOfSchemas } from "../schema/schema-types.ts";
import type { KnownOutputs } from "../validation/catalogue.ts";
import type { Translator } from "./translate-notations.ts";

/** Context for rewriting references. */
export interface Rewriting {
  readonly names: Names;
  /** Candidates for similar names. */
  readonly candidates: () => Iterable<string>;
  /** Ids of steps with a forEach, by the alias of their item. */
  readonly aliases?: ReadonlyMap<string, string> | undefined;
  readonly policy: Pick<Policy, "onMissingField" | "onUnresolvedStep">;
  readonly diagnostics: DiagnosticCollector;
  /** Known outputs of steps; undefined without a catalogue. */
  readonly outputs?: KnownOutputs | undefined;
  readonly translator: Translator;
}

/**
 * Rewrites every reference of a step to the canonical `<<step.path>>`, and collects the references. A
 * reference with an unknown root stays unchanged and gets a diagnostic.
 */
export function rewriteStep(step: DraftStep, rewriting: Rewriting): void {
  const outside = createRewriter(step, rewriting.names, rewriting);
  const { forEach } = step;
  if (forEach) {
    const names: Names = { ...rewriting.names, hasScope: (name) => name === forEach.as || name === "index" };
    const inside = createRewriter(step, names, rewriting);
    const when = conditionOfItems(step, names, rewriting);
    step.arguments = asObject(inside(step.arguments, argumentKeys(step)));
    step.forEach = {
      ...forEach,
      items: asItems(outside(forEach.items, ["forEach", "items"]), forEach.items),
      ...(forEach.key !== undefined && { key: asText(inside(forEach.key, ["forEach", "key"]), forEach.key) }),
      ...(when && {
        when: rewriteCondition(when, { step, keys: ["forEach", "when"] }, { ...rewriting, names }),
      }),
    };
  } else step.arguments = asObject(outside(step.arguments, argumentKeys(step)));
  if (step.when) step.when = rewriteCondition(step.when, { step, keys: ["when"] }, rewriting);
}

/**
 * The condition for the items of a forEach. A condition beside the forEach that names the item can only mean
 * each item, so it is read as this condition, with a warning.
 */
function conditionOfItems(step: DraftStep, inside: Names, rewriting: Rewriting): Condition | undefined {
  const { forEach, when } = step;
  if (!forEach || forEach.when || !when) return forEach?.when;
  let named: string | undefined;
  visitTexts(when, (text) => {
    for (const part of scanText(text)?.parts ?? []) {
      if (part.type === "literal" || locateRoot(part.root, part.path, rewriting.names).type !== "unknown")
        continue;
      if (locateRoot(part.root, part.path, inside).type === "scope") named ??= part.text;
    }
  });
  if (named === undefined) return undefined;
  step.when = undefined;
  const message = `step ${step.id}: its condition is about ${cut(named)}, so it is decided for each item: it is read as forEach.when`;
  const { diagnostics } = rewriting;
  const severity = diagnostics.isCanonical ? "error" : "warning";
  const words = { message, severity, suggestion: "forEach.when" } as const;
  diagnostics.add("CONDITION_INVALID", { step, keys: ["when"] }, words);
  return when;
}

function asObject(value: JsonValue) {
  return isJsonObject(value) ? value : {};
}

function asItems(value: JsonValue, before: string | JsonValue[]): string | JsonValue[] {
  return typeof value === "string" || Array.isArray(value) ? value : before;
}

function asText(value: JsonValue, before: string): string {
  return typeof value === "string" ? value : before;
}

type Rewriter = (value: JsonValue, below: readonly (string | number)[]) => JsonValue;

function createRewriter(step: DraftStep, names: Names, rewriting: Rewriting): Rewriter {
  return (written, below) => {
    const value = rewriting.translator.value(written, { step, keys: below, hasScope: names.hasScope });
    checkNames(value, below, { step, names, rewriting });
    return mapJson(value, (text, place) => rewriteText(text, { step, names, rewriting, below, place }));
  };
}

/** Reports a reference in the name of a field, which would be sent as it is. Recursion is as deep as the value. */
function checkNames(
  value: JsonValue,
  keys: readonly (string | number)[],
  at: Pick<TextPlace, "step" | "names" | "rewriting">,
): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      if (typeof item === "object") checkNames(item, [...keys, index], at);
    return;
  }
  const { step, names, rewriting } = at;
  for (const [name, field] of Object.entries(value)) {
    const place = [...keys, name];
    const reference = scanText(name)?.parts.find((part) => part.type === "reference");
    const located = reference && locateRoot(reference.root, reference.path, names).type;
    if ((located === "step" || located === "scope") && !rewriting.translator.keepLiteral(name)) {
      const message = `step ${step.id}: ${cut(name)} is the name of a field, in which no reference is replaced; refer to values only in values`;
      rewriting.diagnostics.add("REFERENCE_MALFORMED", { step, keys: place }, { message });
    }
    checkNames(field, place, at);
  }
}

interface TextPlace {
  step: DraftStep;
  names: Names;
  rewriting: Rewriting;
  below: readonly (string | number)[];
  place: Place | undefined;
}

function rewriteText(written: string, at: TextPlace): string {
  const { step, names, rewriting, below, place } = at;
  const keys = [...below, ...placeKeys(place)];
  const text = rewriting.translator.text(written, { step, keys, hasScope: names.hasScope });
  const scanned = scanText(text);
  if (!scanned) return text;
  checkMalformed(scanned.malformed, at);
  let rewritten = "";
  let from = 0;
  const isWhole = scanned.parts.length === 1;
  for (const part of scanned.parts) {
    if (part.type === "literal") continue;
    rewritten += text.slice(from, part.start) + rewriteReference(part, isWhole, at);
    from = part.end;
  }
  return rewritten + text.slice(from);
}

function rewriteReference(reference: TextReference, isWhole: boolean, at: TextPlace): string {
  const { step, names, below, place } = at;
  const located = locateRoot(reference.root, reference.path, names);
  const keys = [...below, ...placeKeys(place)];
  if (located.type !== "step" && located.type !== "scope") {
    refuseReference(reference.text, reference.root, located, keys, at);
    step.refused.push({ keys, isWhole });
    return reference.text;
  }
  const { text } = reference;
  const { type, name } = located;
  const path = outputPath(located, reference, keys, at);
  if (type === "step" && name === step.id) {
    const message = `step ${step.id} refers to its own output ${cut(text)}; refer to an earlier step`;
    at.rewriting.diagnostics.add("REFERENCE_SELF", { step, keys }, { message });
  }
  const printed = printReference(name, path);
  step.references.push({ text: printed, keys, isWhole, source: { type, name }, path });
  return isKeptAsWritten(reference, { name, path }, at) ? text : printed;
}

/**
 * True for text that stays as written: its meaning is already canonical, and the policy keeps unresolved
 * references as text.
 */
function isKeptAsWritten(
  reference: TextReference,
  { name, path }: { name: string; path: readonly PathSegment[] },
  { rewriting: { policy } }: TextPlace,
): boolean {
  const keeps = policy.onMissingField === "keep" || policy.onUnresolvedStep === "keep";
  return keeps && reference.root === name && path === reference.path;
}

/** The path in the output, without a word for the output itself. */
function outputPath(
  { type, name, path }: Located & { type: "step" | "scope" },
  { text }: TextReference,
  keys: (string | number)[],
  { step, rewriting: { outputs, diagnostics } }: TextPlace,
): readonly PathSegment[] {
  if (type === "scope" || !outputs) return path;
  const schemaAt = (below: readonly PathSegment[]) =>
    outputs.at({ source: { type, name }, path: below }, step);
  const meant = withoutOutputWord(path, schemaAt);
  if (!meant) return path;
  const suggestion = printReference(name, meant);
  const message = `step ${step.id}: ${cut(text)} is read as ${suggestion}; what follows a step's name is a field of its output`;
  diagnostics.add("REFERENCE_SPELLING", { step, keys }, { message, severity: "warning", suggestion });
  return meant;
}

function refuseReference(
  text: string,
  root: string,
  located: Exclude<Located, { type: "step" | "scope" }>,
  keys: (string | number)[],
  { step, rewriting }: Pick<TextPlace, "step" | "rewriting">,
): void {
  const { diagnostics, policy, candidates } = rewriting;
  const where = { step, keys };
  const shown = cut(text);
  switch (located.type) {
    case "forbidden": {
      const message = `step ${step.id} refers to ${shown}: ${located.key} is not a field of data`;
      diagnostics.add("REFERENCE_FORBIDDEN", where, { message });
      return;
    }
    case "ambiguous": {
      const users = located.candidates.slice(0, 20).join(", ");
      const message = `step ${step.id} refers to ${shown}: tool ${located.name} is used by the steps ${users}; use a step id`;
      diagnostics.add("REFERENCE_AMBIGUOUS", where, { message, suggestion: located.candidates[0] });
      return;
    }
    case "unknown": {
      const isInside = step.forEach !== undefined && keys[0] === "forEach" && keys[1] !== "items";
      const near = diagnostics.nearest(root, candidates());
      const tool = near === undefined ? rewriting.translator.toolHint(root) : undefined;
      const suggestion = near ?? tool?.suggestion ?? (isInside ? step.forEach?.as : undefined);
      const hint = tool?.message ?? (isInside ? itemHint(step) : aliasHint(root, step, rewriting));
      const message = `step ${step.id} refers to ${cut(root)}: no such step${didYouMean(near)}${hint}${near === undefined ? literalHint(text) : ""}`;
      const severity = policy.onUnresolvedStep === "keep" ? "warning" : "error";
      diagnostics.add("REFERENCE_UNKNOWN", where, { message, severity, suggestion });
    }
  }
}

/** How to write the text itself; empty for the name of a step without brackets. */
const literalHint = (text: string): string =>
  /^(?:<<|\{\{|\$ref:)/.test(text) ? `, or \\${cut(text)} for the characters themselves` : "";

const itemHint = ({ forEach }: DraftStep) => `; inside this forEach the item is <<${forEach?.as ?? "item"}>>`;

/** A hint for an item alias that is used outside its scope: outside the forEach, or in its items. */
function aliasHint(root: string, step: DraftStep, { aliases }: Pick<Rewriting, "aliases">): string {
  if (step.forEach && (root === step.forEach.as || root === "index")) {
    return `; <<${root}>> is known in the arguments, the key and the when of the forEach alone: its items are read once, before there is an item`;
  }
  const owner = aliases?.get(root);
  if (owner !== undefined) {
    return `; ${root} is the item of step ${owner} and known only there; what its calls gave is <<${owner}.results[*].data>>`;
  }
  if (!ITEM_NAMES.has(root)) return "";
  return `; <<${root}>> is known only in a step that has a forEach: put "forEach": "<<step.list>>" beside its tool`;
}

const ITEM_NAMES: ReadonlySet<string> = new Set(["item", "index", "each", "element", "entry", "row", "it"]);

/** Reports text that opens like a reference to an existing name, but is malformed. */
function checkMalformed(malformed: readonly { root: string; text: string }[], at: TextPlace): void {
  const { step, names, rewriting, below, place } = at;
  for (const { root, text } of malformed.slice(0, 20)) {
    if (locateRoot(root, [], names).type === "unknown") continue;
    const message = `step ${step.id}: ${cut(text, 60)} is no reference; write <<${root}.field>>, or \\${text.startsWith("{{") ? "{{" : "<<"} for the characters themselves`;
    const keys = [...below, ...placeKeys(place)];
    rewriting.diagnostics.add("REFERENCE_MALFORMED", { step, keys }, { message, suggestion: `<<${root}>>` });
  }
}

/** Recursion is safe: the document's limit bounds the depth of conditions. */
function rewriteCondition(
  condition: Condition,
  { step, keys: place }: { step: DraftStep; keys: readonly string[] },
  rewriting: Rewriting,
): Condition {
  const rewrite = createRewriter(step, rewriting.names, rewriting);
  const inner = (value: Condition, keys: readonly (string | number)[]): Condition => {
    if ("all" in value) return { all: value.all.map((item, index) => inner(item, [...keys, "all", index])) };
    if ("any" in value) return { any: value.any.map((item, index) => inner(item, [...keys, "any", index])) };
    if ("not" in value) return { not: inner(value.not, [...keys, "not"]) };
    if ("status" in value) return rewriteStatus(value, [...keys, "status", 0]);
    return withOperands(value, rewrite(value, keys));
  };
  const rewriteStatus = (value: { status: [string, string] }, keys: (string | number)[]): Condition => {
    const [written, status] = value.status;
    // Ids may be written as numbers.
    const name = isJsonNumber(written) ? digitsOf(written) : written;
    const known = rewriting.translator.stepId(name) ?? name;
    const located = locateRoot(known, [], rewriting.names);
    if (located.type === "step") return { status: [located.name, status] };
    if (located.type !== "scope") refuseReference(name, name, located, keys, { step, rewriting });
    return { status: [name, status] };
  };
  return inner(condition, place);
}

/** The same comparison with other operands. */
function withOperands(condition: Condition, rewritten: JsonValue): Condition {
  return isJsonObject(rewritten) ? { ...condition, ...rewritten } : condition;
}

/** Words for the output itself that other languages put between a step and a field of its output. */
const OUTPUT_WORDS = new Set("output outputs result results response data return value returns".split(" "));

/**
 * The path without a word for the output itself: `s1.output._id` is `s1._id` where the output has a field
 * `_id` and can have none called `output`. Undefined when the path does not change, or its meaning is
 * uncertain.
 * @param schemaAt - the known schema of the source's output at a path
 */
function withoutOutputWord(
  path: readonly PathSegment[],
  schemaAt: (path: readonly PathSegment[]) => SchemaAtPath,
): readonly PathSegment[] | undefined {
  const [first, ...rest] = path;
  if (first?.type !== "key" || !OUTPUT_WORDS.has(first.key)) return undefined;
  const own = schemaAt([first]);
  if (own.type !== "absent") return undefined;
  const isCertain = rest.length === 0 ? own.closed : schemaAt(rest).type === "known";
  return isCertain ? rest : undefined;
}

/**
 * The arguments without optional ones that are null although the tool does not accept null: structured model
 * output cannot leave them out. Also inside objects that the schema describes. Arguments that the schema does
 * not describe stay.
 */
export function withoutNulls(args: JsonObject, schema: JsonValue | undefined): JsonObject {
  if (!isJsonObject(schema)) return args;
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return args;
  const needed = new Set(Array.isArray(required) ? required : []);
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (value === null && own !== undefined && !needed.has(name) && !takesNull(name, schema)) continue;
    setOwn(kept, name, isJsonObject(value) && !Array.isArray(value) ? withoutNulls(value, own) : value);
  }
  return kept;
}

/** Also true when the schema does not define it. */
function takesNull(name: string, schema: JsonObject): boolean {
  const found = schemaAtPath(schema, [{ type: "key", key: name }]);
  const types = found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
  return types === undefined || types.has("null");
}
