import { type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import { argumentKeys, type DraftReference, type DraftStep, toolKeys } from "../document/draft-step.ts";
import { shortName } from "../tools/name-tools.ts";
import { checkArguments } from "./check-arguments.ts";
import { checkContracts } from "./check-contracts.ts";
import { checkNoValues, type PlannedCall } from "./check-no-values.ts";
import { checkOperands } from "./check-operands.ts";
import {
  absenceOf,
  createKnownOutputs,
  givesTypes,
  type KnownOutputs,
  type KnownPlace,
  typesAt,
  weightOf,
} from "./known-outputs.ts";
import { isPlaceholder } from "./placeholder.ts";
import { envelopeHint, fieldHint, listsIn } from "./reference-hints.ts";
import type { ToolChecking } from "./tool-checking.ts";

/** The tool that runs plans; inside a plan it would be recursive. */
export const PLAN_TOOL = "execute_tool_plan";

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
