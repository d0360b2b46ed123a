import { argumentKeys, type DraftStep, toolKeys } from "../document/draft-step.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { PathSegment } from "../json/path.ts";
import { callTimeout } from "../policy/call-timeout.ts";
import { isOfProfile } from "../policy/policy.ts";
import { requiredPath } from "../reference/required-fields.ts";
import { schemaAtPath } from "../schema/schema-paths.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { Catalogue } from "./catalogue.ts";
import type { ToolChecking } from "./tool-checking.ts";

/**
 * Checks steps against the contracts of their tools: required fields, limits, and unreadable declarations.
 */
export function checkContracts(steps: readonly DraftStep[], checking: ToolChecking): void {
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
