import { cut, type DiagnosticCollector, didYouMean } from "../document/diagnostic.ts";
import {
  argumentKeys,
  conditionsOf,
  type DraftReference,
  type DraftStep,
  toolKeys,
} from "../document/plan.ts";
import { callTimeout, isOfProfile, type Policy } from "../document/policy.ts";
import { holdsCredential, SECRET_PREFIX, secretNameOf } from "../document/secret.ts";
import { isExactNumber, stringifyExactJson } from "../json/exact-json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PathSegment,
  placeKeys,
  visitTexts,
} from "../json/json.ts";
import { comparisonsIn } from "../reference/condition.ts";
import { scanText } from "../reference/read-reference.ts";
import { requiredPath } from "../reference/referenced-steps.ts";
import { isListedAt } from "../schema/fit-texts.ts";
import { schemaAtPath } from "../schema/schema-types.ts";
import { shortName, type ToolDescriptor } from "../tools/tool-descriptor.ts";
import {
  absenceOf,
  type Catalogue,
  createKnownOutputs,
  givesTypes,
  type KnownOutputs,
  type KnownPlace,
  typesAt,
  weightOf,
} from "./catalogue.ts";
import { checkArguments, envelopeHint, fieldHint, listsIn } from "./check-arguments.ts";
import {
  checkNoValues,
  foreignReference,
  isPlaceholder,
  type PlannedCall,
  type SaidHow,
} from "./check-no-values.ts";

/** The tool that runs plans; inside a plan it would be recursive. */
const PLAN_TOOL = "execute_tool_plan";

/** Reports calls of the tool that runs plans, even when the catalogue contains it. */
export function checkRecursion(steps: readonly DraftStep[], diagnostics: DiagnosticCollector): void {
  for (const step of steps) {
    if (shortName(step.tool) !== PLAN_TOOL) continue;
    const message = `step ${step.id} calls ${step.tool}, which runs plans; put the steps of that plan here instead`;
    diagnostics.add("TOOL_RECURSIVE", { step, keys: toolKeys(step) }, { message });
  }
}

/** Checks steps against the tools: existence, arguments, references to outputs, contracts. */
export function checkTools(steps: readonly DraftStep[], checking: ToolChecking): void {
  const { catalogue, policy, diagnostics } = checking;
  const outputs = createKnownOutputs(steps, catalogue);
  const unusable = new Set<string>();
  for (const step of steps) {
    checkReferences(step, outputs, checking);
    if (step.tool === "" || shortName(step.tool) === PLAN_TOOL) continue;
    const tool = catalogue.find(step.tool);
    if (tool) checkArguments({ step, tool, outputs, policy, diagnostics, unusable });
    else unknownTool(step, checking);
  }
  checkContracts(steps, checking);
  checkNoValues(
    steps.map((step) => plannedCall(step, checking)),
    {
      diagnostics,
      isPlaceholder,
      isSaid: checking.isLiteral,
      ask: "give the value",
      emptyText: "warning",
      checksOptional: false,
    },
  );
}

function plannedCall(step: DraftStep, { catalogue }: ToolChecking): PlannedCall {
  const { forEach } = step;
  return {
    step,
    tool: catalogue.find(step.tool),
    arguments: step.arguments,
    keys: argumentKeys(step),
    isForEach: forEach !== undefined,
  };
}

function unknownTool(step: DraftStep, { catalogue, diagnostics }: ToolChecking): void {
  const where = { step, keys: toolKeys(step) };
  const offers = catalogue.offersOf(step.tool);
  if (offers.length > 1) {
    const message = `step ${step.id} calls ${step.tool}, which several servers offer: ${offers.slice(0, 10).join(", ")}`;
    diagnostics.add("TOOL_AMBIGUOUS", where, { message, suggestion: offers[0] });
    return;
  }
  const leftOut = catalogue.leftOutOf(step.tool);
  if (leftOut) {
    const message = `step ${step.id} calls ${step.tool}, which no plan can use: server ${leftOut.server} lists it, but it was left out because ${leftOut.reason}`;
    diagnostics.add("TOOL_UNKNOWN", where, { message });
    return;
  }
  const suggestion = diagnostics.nearest(step.tool, catalogue.names);
  const message = `step ${step.id} calls ${step.tool}: no such tool${didYouMean(suggestion)}`;
  diagnostics.add("TOOL_UNKNOWN", where, { message, suggestion });
}

function checkReferences(step: DraftStep, outputs: KnownOutputs, checking: ToolChecking): void {
  for (const reference of step.references) {
    const found = outputs.at(reference, step);
    if (found.type === "absent" && !isPromised(reference, outputs)) {
      reportAbsent({ step, reference, found, outputs }, checking);
    } else if (found.type === "open") checkPromise(step, reference, outputs, checking.diagnostics);
  }
  checkItems(step, outputs, checking.diagnostics);
  checkOperands(step, outputs, checking.diagnostics);
}

/** A reference to a field that, as far as known, does not exist. */
interface AbsentReference {
  step: DraftStep;
  reference: DraftReference;
  found: KnownPlace & { type: "absent" };
  outputs: KnownOutputs;
}

/**
 * Reports an absent field: an error when the schema excludes it, a warning when it was only never observed.
 */
function reportAbsent(absent: AbsentReference, { policy, diagnostics }: ToolChecking): void {
  const { step, reference, found, outputs } = absent;
  const { source } = reference;
  const hint = fieldHint(reference, step, outputs);
  const near = hint ? undefined : diagnostics.nearestField(found.key, found.declared);
  const message = `step ${step.id} refers to ${reference.text}: ${absenceOf(source.name, found)}${hint?.text ?? didYouMean(near)}`;
  const isError = found.closed && policy.onMissingField === "error" && found.outputs === undefined;
  const severity = isError ? "error" : "warning";
  const suggestion = hint?.suggestion ?? near;
  const where = { step, keys: reference.keys };
  diagnostics.add("REFERENCE_FIELD_UNKNOWN", where, {
    message,
    severity,
    suggestion,
    observedIn: found.outputs,
  });
}

function isPromised(reference: DraftReference, outputs: KnownOutputs): boolean {
  const [first] = reference.path;
  return first?.type === "key" && outputs.promisedBy(reference).includes(first.key);
}

function checkPromise(
  step: DraftStep,
  reference: DraftReference,
  outputs: KnownOutputs,
  diagnostics: DiagnosticCollector,
): void {
  const promised = outputs.promisedBy(reference);
  const [first] = reference.path;
  if (promised.length === 0 || first?.type !== "key" || promised.includes(first.key)) return;
  const suggestion = diagnostics.nearestField(first.key, promised);
  const message = `step ${step.id} refers to ${reference.text}: the tool of ${reference.source.name} provides ${promised.slice(0, 10).join(", ")}${didYouMean(suggestion)}`;
  const where = { step, keys: reference.keys };
  diagnostics.add("REFERENCE_FIELD_UNKNOWN", where, { message, severity: "warning", suggestion });
}

/** Reports items of a forEach that cannot be a list. */
function checkItems(step: DraftStep, outputs: KnownOutputs, diagnostics: DiagnosticCollector): void {
  const reference = step.references.find(({ keys }) => keys.length === 2 && keys[1] === "items");
  if (!step.forEach || !reference?.isWhole) return;
  const found = outputs.at(reference, step);
  const types = typesAt(found);
  if (!types || types.has("array") || types.has("string")) return;
  if (reference.path.some(({ type }) => type === "all")) return;
  const lists = outputs.isForEach(reference)
    ? [envelopeHint(reference).suggestion]
    : listsIn(reference, found);
  const hint = lists.length > 0 ? `; write ${lists.join(" or ")}` : "";
  const message = `step ${step.id}: ${reference.text} ${givesTypes(types, found.outputs)}, and forEach needs a list${hint}`;
  const where = { step, keys: reference.keys };
  diagnostics.add("FOREACH_ITEMS_NOT_LIST", where, {
    message,
    suggestion: lists[0],
    ...weightOf(found.outputs),
  });
}

const ORDERS: ReadonlySet<string> = new Set(["lt", "lte", "gt", "gte"]);
const NUMBERS: ReadonlySet<string> = new Set(["number", "integer"]);

interface Operand {
  shown: string;
  /** Possible JSON types; undefined when unknown. */
  types: ReadonlySet<string> | undefined;
  /** Number of earlier outputs from which the types are known, without a schema. */
  outputs?: number | undefined;
}

/**
 * Checks that the known types of operands fit the operators of a condition: comparing a number with a text
 * would make the step fail when it starts.
 */
function checkOperands(step: DraftStep, outputs: KnownOutputs, diagnostics: DiagnosticCollector): void {
  for (const { operator, operands, keys: at } of comparisonsIn(conditionsOf(step))) {
    const [left, right] = operands.map((each, index) => operandOf(each, [...at, index], step, outputs));
    const problem = left && right && problemOf(operator, left, right);
    if (!problem) continue;
    const message = `step ${step.id}: "${operator}" ${problem}`;
    const weight = weightOf(left.outputs ?? right.outputs);
    diagnostics.add("CONDITION_INVALID", { step, keys: at }, { message, ...weight });
  }
}

function problemOf(operator: string, left: Operand, right: Operand): string | undefined {
  const said = `${describe(left)}, and ${describe(right)}`;
  if (ORDERS.has(operator)) {
    const isPossible = bothMayBe(left, right, isNumber) || bothMayBe(left, right, isText);
    return isPossible ? undefined : `compares two numbers or two texts: ${said}`;
  }
  if (operator === "in" && right.types && !right.types.has("array"))
    return `asks whether the list on the right holds the value on the left: ${said}; "contains" has the list on the left`;
  return undefined;
}

const isNumber = (type: string) => NUMBERS.has(type);
const isText = (type: string) => type === "string";

const bothMayBe = (left: Operand, right: Operand, isWanted: (type: string) => boolean) =>
  [left, right].every(({ types }) => !types || [...types].some(isWanted));

const describe = ({ shown, types }: Operand) =>
  `${shown} is ${types ? [...types].join(" or ") : "of any type"}`;

function operandOf(
  value: JsonValue,
  keys: readonly (string | number)[],
  step: DraftStep,
  outputs: KnownOutputs,
): Operand {
  const shown = cut(stringifyExactJson(value), 60);
  if (typeof value !== "string" || isExactNumber(value)) return { shown, types: new Set([typeOf(value)]) };
  const parts = scanText(value)?.parts ?? [];
  if (!parts.some(({ type }) => type === "reference")) return { shown, types: new Set(["string"]) };
  if (parts.length > 1) return { shown, types: new Set(["string"]) };
  const place = keys.join("\n");
  const reference = step.references.find((each) => each.keys.join("\n") === place);
  if (!reference) return { shown, types: undefined };
  if (reference.path.some(({ type }) => type === "all")) return { shown, types: new Set(["array"]) };
  const found = outputs.at(reference, step);
  return { shown, types: typesAt(found), outputs: found.outputs };
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return isExactNumber(value) ? "number" : typeof value;
}

/**
 * Checks steps against the contracts of their tools: required fields, limits, and unreadable declarations.
 */
function checkContracts(steps: readonly DraftStep[], checking: ToolChecking): void {
  const { catalogue } = checking;
  const called = new Set(steps.map(({ tool }) => tool));
  const seen = new Set<ToolDescriptor>();
  for (const step of steps) {
    const tool = catalogue.find(step.tool);
    if (!tool) continue;
    checkRequiredFields(step, { tool, called }, checking);
    checkTimeout(step, tool, checking);
    checkBatch(step, tool, checking);
    if (seen.has(tool)) continue;
    seen.add(tool);
    checkLimit(step, tool, checking);
    checkReadable(step, tool, checking);
  }
}

/**
 * Reports fields that a contract requires from earlier tools: an error when these cannot provide them, a
 * warning when their declarations leave it open. The real output is checked before the call is made.
 */
function checkRequiredFields(
  step: DraftStep,
  { tool, called }: { tool: ToolDescriptor; called: ReadonlySet<string> },
  { catalogue, diagnostics }: ToolChecking,
): void {
  for (const { tool: name, requiredFields } of catalogue.contractOf(tool).dependsOn) {
    const source = catalogue.findFor(tool, name);
    if (!source || !called.has(source.name)) continue;
    for (const field of requiredFields) {
      const provided = providesField(source, field, catalogue);
      if (provided === "yes") continue;
      const needs = `step ${step.id} calls ${step.tool}, which needs ${field} of ${source.name}`;
      const where = { step, keys: argumentKeys(step) };
      if (provided === "no") {
        diagnostics.add("CONTRACT_FIELD_ABSENT", where, {
          message: `${needs}, and ${source.name} gives none`,
        });
      } else {
        const message = `${needs}, and ${source.name} does not declare whether it gives it; without it the step fails before its call`;
        diagnostics.add("CONTRACT_FIELD_ABSENT", where, { message, severity: "warning" });
      }
    }
  }
}

/** `open`: a schema, or the lack of one, leaves it open. */
function providesField(tool: ToolDescriptor, field: string, catalogue: Catalogue): "yes" | "no" | "open" {
  if (catalogue.contractOf(tool).provides.includes(field)) return "yes";
  if (!isJsonObject(tool.outputSchema)) return "open";
  const path = requiredPath(field);
  const found = schemaAtPath(tool.outputSchema, path);
  if (found.type === "known") return "yes";
  const [name] = path;
  const below = path.length === 1 && name?.type === "key" ? fieldBelow(tool.outputSchema, name.key) : "no";
  return below === "no" && found.type === "open" ? "open" : below;
}

/** Places of a schema that are searched for one name. */
const MAX_PLACES = 200;

/** Whether a schema has a field of this name anywhere below its lists and objects. */
function fieldBelow(schema: JsonObject, name: string): "yes" | "no" | "open" {
  const places: PathSegment[][] = [[]];
  let isOpen = false;
  for (const place of places) {
    const found = schemaAtPath(schema, place);
    isOpen ||= found.type === "open";
    if (found.type !== "known") continue;
    if (schemaAtPath(schema, [...place, { type: "key", key: name }]).type === "known") return "yes";
    for (const { properties, items } of found.schemas.filter(isJsonObject)) {
      const keys = isJsonObject(properties) ? Object.keys(properties) : [];
      const inner: PathSegment[] = keys.map((key) => ({ type: "key", key }));
      if (isJsonObject(items)) inner.push({ type: "all" });
      // A recursive schema has any number of places.
      if (places.length + inner.length > MAX_PLACES) return "open";
      places.push(...inner.map((segment) => [...place, segment]));
    }
  }
  return isOpen ? "open" : "no";
}

/**
 * Warns when a tool accepts more concurrent calls than the plan allows. Not for a profile with one call at a
 * time.
 */
function checkLimit(
  step: DraftStep,
  tool: ToolDescriptor,
  { catalogue, policy, diagnostics }: ToolChecking,
): void {
  const { maxConcurrency } = catalogue.contractOf(tool);
  if (maxConcurrency === undefined || maxConcurrency <= policy.maxParallel) return;
  if (isOfProfile(policy, "maxParallel")) return;
  const message = `step ${step.id} calls ${step.tool}, which takes ${maxConcurrency} calls at once (max_concurrency), and the plan runs at most ${policy.maxParallel} (maxParallel)`;
  diagnostics.add(
    "CONTRACT_LIMIT_UNREACHABLE",
    { step, keys: toolKeys(step) },
    { message, severity: "warning" },
  );
}

/** Warns when a step gets a shorter timeout than it sets, with both numbers. */
function checkTimeout(
  step: DraftStep,
  tool: ToolDescriptor,
  { catalogue, policy, diagnostics, maxStepTimeoutMs: maxStepMs }: ToolChecking,
): void {
  const stepMs = step.options.timeoutMs;
  const policyMs = policy.stepTimeoutMs;
  const contractMs = catalogue.contractOf(tool).timeoutMs;
  const { timeoutMs, cutBy } = callTimeout({ stepMs, policyMs, contractMs, maxStepMs });
  if (cutBy === undefined) return;
  const by =
    cutBy === "contract"
      ? `the contract of ${step.tool} allows no more (timeout_ms)`
      : "a step may ask for no more (MAX_STEP_TIMEOUT_MS of the service)";
  const message = `step ${step.id} asks for a timeoutMs of ${stepMs} and gets ${timeoutMs}: ${by}`;
  diagnostics.add("STEP_TIMEOUT_CUT", { step, keys: ["timeoutMs"] }, { message, severity: "warning" });
}

/** Reports a list with more items than one call of the tool takes. */
function checkBatch(step: DraftStep, tool: ToolDescriptor, { catalogue, diagnostics }: ToolChecking): void {
  const { batch } = catalogue.contractOf(tool);
  if (!batch || !Object.hasOwn(step.arguments, batch.param)) return;
  const items = step.arguments[batch.param];
  if (!Array.isArray(items) || items.length <= batch.max) return;
  const message = `step ${step.id} gives ${step.tool} ${items.length} items in ${batch.param}, and a call takes at most ${batch.max} (batch.max); use a forEach, which calls it as often as needed, or split the list`;
  const where = { step, keys: [...argumentKeys(step), batch.param] };
  diagnostics.add("CONTRACT_BATCH_TOO_LARGE", where, { message, suggestion: '"forEach"' });
}

function checkReadable(
  step: DraftStep,
  tool: ToolDescriptor,
  { catalogue, diagnostics }: ToolChecking,
): void {
  for (const sentence of catalogue.unreadableOf(tool)) {
    const message = `step ${step.id} calls ${step.tool}, whose contract cannot be read in part: ${sentence}`;
    diagnostics.add("CONTRACT_UNREADABLE", { step, keys: toolKeys(step) }, { message, severity: "warning" });
  }
}

/**
 * Checks that fields to which parts of the outputs refer can exist, by the output schemas of their sources. A
 * field that was only never observed is a warning.
 */
export function checkOutputs(
  references: readonly DraftReference[],
  steps: readonly DraftStep[],
  { catalogue, policy, diagnostics }: ToolChecking,
): void {
  const outputs = createKnownOutputs(steps, catalogue);
  for (const reference of references) {
    const step = steps.find(({ id }) => id === reference.source.name);
    const found = step && outputs.at(reference, step);
    if (found?.type !== "absent") continue;
    const suggestion = diagnostics.nearestField(found.key, found.declared);
    const message = `output ${reference.keys[1]} refers to ${reference.text}: ${absenceOf(reference.source.name, found)}${didYouMean(suggestion)}`;
    const isError = found.closed && policy.onMissingField === "error" && found.outputs === undefined;
    const severity = isError ? "error" : "warning";
    diagnostics.add(
      "REFERENCE_FIELD_UNKNOWN",
      { keys: reference.keys },
      { message, severity, suggestion, observedIn: found.outputs },
    );
  }
}

/** Context for checking steps against a catalogue. */
export interface ToolChecking {
  readonly catalogue: Catalogue;
  readonly policy: Policy;
  readonly diagnostics: DiagnosticCollector;
  /** Upper limit for a step's own timeout, in milliseconds. */
  readonly maxStepTimeoutMs: number;
  /** True for a text that is a literal value: the plan lists it in `literals`, or the request contains it. */
  readonly isLiteral: (text: string, how: SaidHow) => boolean;
}

/** Reports step ids that several steps have. */
export function checkIds(steps: readonly DraftStep[], diagnostics: DiagnosticCollector): void {
  const seen = new Set<string>();
  for (const step of steps) {
    if (seen.has(step.id)) {
      const message = `step id ${step.id} is used more than once; give each step its own`;
      diagnostics.add("STEP_ID_DUPLICATE", { step, keys: ["id"] }, { message });
    }
    seen.add(step.id);
  }
}

const MAX_PLACEHOLDERS = 20;

/** Context for distinguishing placeholders from values. */
interface PlaceholderChecking {
  readonly hasStep: (name: string) => boolean;
  readonly isLiteral: (text: string) => boolean;
  /** Schema of the step's arguments; texts that it lists are values. */
  readonly schema: JsonObject | undefined;
  readonly diagnostics: DiagnosticCollector;
}

/** Reports placeholders instead of values. */
export function checkPlaceholders(
  step: DraftStep,
  { hasStep, isLiteral, schema, diagnostics }: PlaceholderChecking,
): void {
  let count = 0;
  visitTexts(step.arguments, (text, place) => {
    if (text.length > 100 || !isPlaceholder(text) || count >= MAX_PLACEHOLDERS || isLiteral(text)) return;
    const foreign = foreignReference(text);
    // Already reported as a reference in a foreign notation.
    if (foreign && hasStep(foreign.root)) return;
    count++;
    const below = placeKeys(place);
    if (schema && isListedAt(text, below, schema)) return;
    const keys = [...argumentKeys(step), ...below];
    const message = `step ${step.id}: ${cut(text)} is a placeholder; give the value, or a reference such as <<step.field>>`;
    diagnostics.add("ARGUMENT_PLACEHOLDER", { step, keys }, { message });
  });
}

/**
 * Checks a forEach: its items are a list or exactly one reference, its alias hides no step, and the keys of
 * literal items are unique.
 */
export function checkForEach(
  step: DraftStep,
  hasStep: (name: string) => boolean,
  diagnostics: DiagnosticCollector,
): void {
  const { forEach } = step;
  if (!forEach) return;
  if (typeof forEach.items === "string") {
    const parts = scanText(forEach.items)?.parts ?? [];
    if (parts.length !== 1 || parts[0]?.type !== "reference") {
      const message = `step ${step.id}: forEach.items is a text that is not exactly one reference; give a list, or <<step.field>>`;
      diagnostics.add("FOREACH_ITEMS_NOT_LIST", { step, keys: ["forEach", "items"] }, { message });
    }
  }
  if (hasStep(forEach.as)) {
    const message = `step ${step.id}: inside its forEach, ${forEach.as} means the item and hides the step of that name`;
    diagnostics.add(
      "FOREACH_ALIAS_CONFLICT",
      { step, keys: ["forEach", "as"] },
      { message, severity: "warning" },
    );
  }
  checkKeys(step, forEach, diagnostics);
  checkMinSuccess(step, forEach, diagnostics);
}

/** Reports a number of successes that the list cannot reach, or that has no effect. */
function checkMinSuccess(
  step: DraftStep,
  forEach: NonNullable<DraftStep["forEach"]>,
  diagnostics: DiagnosticCollector,
): void {
  const { items, errors, minSuccess } = forEach;
  if (minSuccess === undefined) return;
  const count = Array.isArray(items) ? items.length : 0;
  const why =
    errors === "stop"
      ? `errors "stop" fails the step at the first failed item, so minSuccess ${minSuccess} changes nothing; use errors "collect", or leave minSuccess out`
      : count > 0 && minSuccess > count
        ? `minSuccess ${minSuccess} is more than the ${count} items of the list, so the step always fails; give at most ${count}, or a share below 1`
        : undefined;
  if (why === undefined) return;
  diagnostics.add(
    "FOREACH_MIN_SUCCESS",
    { step, keys: ["forEach", "minSuccess"] },
    { message: `step ${step.id}: ${why}`, severity: "warning" },
  );
}

function checkKeys(
  step: DraftStep,
  forEach: NonNullable<DraftStep["forEach"]>,
  diagnostics: DiagnosticCollector,
): void {
  if (forEach.key === undefined || !Array.isArray(forEach.items)) return;
  const scanned = scanText(forEach.key)?.parts ?? [];
  const [only] = scanned;
  const isAlias = scanned.length === 1 && only?.type === "reference" && only.root === forEach.as;
  const where = { step, keys: ["forEach", "key"] };
  if (scanned.every(({ type }) => type === "literal") && forEach.items.length > 1) {
    const message = `step ${step.id}: forEach.key is the same text for every item; refer to the item, such as <<${forEach.as}.id>>`;
    diagnostics.add("FOREACH_KEY_DUPLICATE", where, { message });
  } else if (isAlias && only.path.length === 0) {
    const texts = forEach.items.filter((item) => typeof item !== "object").map(String);
    if (new Set(texts).size === texts.length) return;
    const message = `step ${step.id}: forEach.key gives some items the same key; keys must be unique`;
    diagnostics.add("FOREACH_KEY_DUPLICATE", where, { message });
  }
}

const MAX_DIAGNOSTICS = 20;

/**
 * Checks secrets: they must be complete values of arguments, with a literal name. Anywhere else the text is
 * sent, or compared, unchanged. A text that looks like a credential gets a warning that does not repeat it,
 * because plans are stored and shown unchanged.
 */
export function checkSecrets(step: DraftStep, diagnostics: DiagnosticCollector): void {
  const { forEach } = step;
  let count = 0;
  const check = (value: JsonValue, below: readonly string[], isArgument: boolean): void =>
    visitTexts(value, (text, place) => {
      if (count >= MAX_DIAGNOSTICS || (isArgument && secretNameOf(text) !== undefined)) return;
      const isExposed = holdsCredential(text);
      if (!isExposed && !text.includes(SECRET_PREFIX)) return;
      count++;
      const where = { step, keys: [...below, ...placeKeys(place)] };
      if (isExposed) {
        const message = `step ${step.id}: a text holds what looks like a credential, and the plan is stored with it as it is; give the secret to the executor and write secret:// and its name as the whole argument`;
        diagnostics.add("SECRET_EXPOSED", where, {
          message,
          severity: "warning",
          suggestion: "secret://name",
        });
      } else if (isArgument && text.startsWith(SECRET_PREFIX) && !/\s/.test(text)) {
        const message = `step ${step.id}: ${cut(text)} names no secret; write secret:// and a name of letters, digits, ".", "_" and "-", without references`;
        diagnostics.add("SECRET_INVALID", where, { message });
      } else {
        const message = `step ${step.id}: ${cut(text)} stays as it is written; a secret is inserted only where it is the whole value of an argument`;
        diagnostics.add("SECRET_MISPLACED", where, { message, severity: "warning" });
      }
    });
  check(step.arguments, argumentKeys(step), true);
  if (forEach) check(forEach.items, ["forEach", "items"], false);
  for (const { condition, keys } of conditionsOf(step)) check(condition, keys, false);
}
