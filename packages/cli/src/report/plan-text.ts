import { type StepRun, type StepValues, stepTree, type TreeRow } from "@planwright/client";
import { countText, durationText, isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { PlanRecord } from "../operations.ts";
import { oneLine, type Style } from "../terminal.ts";
import { inlineJson } from "./format.ts";

/** A plan for people to read: its planner, and each step with its dependencies and arguments. Pure. */
export function planText(plan: PlanRecord, style: Style): string[] {
  const steps = plan.steps.filter(({ item }) => item === null);
  const documents = stepDocuments(plan.document);
  return [
    `${style("strong", plan.planId)}  ${plan.status}  ${style("quiet", `${countText(steps.length, "step")}, planned by ${plan.origin.model ?? plan.origin.kind}`)}`,
    ...stepTree(plan.steps).flatMap((row) => stepText(row, documents.get(row.step.id) ?? {}, style)),
    ...ofWholePlan(plan.document),
  ];
}

function stepText(
  { step, branch, below }: TreeRow<StepRun & StepValues>,
  document: JsonObject,
  style: Style,
): string[] {
  const name = style("strong", oneLine(step.id, 80));
  const tool = step.id === step.tool ? "" : `  ${oneLine(step.tool, 80)}`;
  return [
    `${branch}${name}${tool}${style("quiet", notesOf(step, document))}`,
    ...argumentLines(step.arguments).map((line) => `${below}${line}`),
  ];
}

/** Everything special about the step except its call. */
function notesOf(step: StepRun, { forEach, when, approval, timeoutMs, onError }: JsonObject): string {
  const notes = [
    step.dependsOn.length > 0 && `after ${step.dependsOn.map((id) => oneLine(id, 80)).join(" and ")}`,
    isJsonObject(forEach) && `for each of ${itemsOf(forEach)}`,
    when !== undefined && `when ${inlineJson(when, 120)}`,
    approval === true && "asks for approval",
    typeof timeoutMs === "number" && `${durationText(timeoutMs)} at most`,
    typeof onError === "string" && `on error ${oneLine(onError, 40)}`,
  ].filter((note) => typeof note === "string");
  return notes.length > 0 ? `  ${notes.join(", ")}` : "";
}

function itemsOf({ items = null, when }: JsonObject): string {
  const only = when === undefined ? "" : ` where ${inlineJson(when, 120)}`;
  return `${inlineJson(items, 80)}${only}`;
}

function argumentLines(args: JsonValue): string[] {
  if (!isJsonObject(args)) return args === null ? [] : [inlineJson(args)];
  const entries = Object.entries(args);
  const width = Math.min(24, Math.max(0, ...entries.map(([name]) => name.length)));
  return entries.map(([name, value]) => `${oneLine(name, 64).padEnd(width)}  ${inlineJson(value, 200)}`);
}

function ofWholePlan(document: JsonValue): string[] {
  if (!isJsonObject(document)) return [];
  const { outputs } = document;
  return outputs === undefined ? [] : [`Outputs: ${inlineJson(outputs, 300)}`];
}

function stepDocuments(document: JsonValue): ReadonlyMap<string, JsonObject> {
  const steps = isJsonObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  return new Map(
    steps
      .filter(isJsonObject)
      .flatMap((step) => (typeof step["id"] === "string" ? [[step["id"], step]] : [])),
  );
}
