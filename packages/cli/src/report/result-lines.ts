import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { answerLines } from "./answer-lines.ts";
import type { DebugFacts } from "./debug-facts.ts";
import { diagnosisLines } from "./debug-report.ts";
import { diagnose } from "./diagnose.ts";
import type { NextStep } from "./diagnosis.ts";
import { exitCodeOf } from "./exit-code.ts";
import { findingLines, worthTelling } from "./findings.ts";
import { count, inlineJson } from "./format.ts";
import { largeOutput } from "./large-output.ts";

/** Outputs that are printed at most. */
const MAX_OUTPUTS = 50;

/** What is said once following has ended: the outputs, or what is the matter and what to do. Pure. */
export function resultLines(facts: DebugFacts, style: Style): string[] {
  const { request, command } = facts;
  const outputs = [...outputLines(facts, style), ...answerLines(request, style)];
  if (request.status === "COMPLETED") {
    return [...outputs, ...findingLines(worthTelling(request.diagnostics), style)];
  }
  const diagnosis = diagnose(facts);
  const more: NextStep = { say: "", command: command("debug", request.requestId) };
  const findings = request.plan === null || request.plan.status === "INVALID" ? request.diagnostics : [];
  return [
    ...(request.status === "PARTIAL" ? [...outputs, ""] : []),
    ...diagnosisLines(diagnosis, style),
    ...findingLines(findings, style).map((line) => `        ${line}`),
    ...(exitCodeOf(request) === 1 ? [style("quiet", `        Everything about it: ${more.command}`)] : []),
  ];
}

function outputLines({ request: { plan }, command }: DebugFacts, style: Style): string[] {
  const { outputs = null, outputReferences = [] } = plan ?? {};
  if (!isJsonObject(outputs)) return [];
  const references = new Map(outputReferences.map((reference) => [reference.name, reference]));
  const shown = (name: string, value: JsonValue): string => {
    const reference = references.get(name);
    return reference ? largeOutput(reference, command) : inlineJson(value, 1_000);
  };
  const entries = Object.entries(outputs);
  const width = Math.min(30, Math.max(0, ...entries.map(([name]) => name.length)));
  const more = entries.length - MAX_OUTPUTS;
  return [
    style("strong", entries.length === 0 ? "No outputs" : "Outputs"),
    ...entries
      .slice(0, MAX_OUTPUTS)
      .map(([name, value]) => `  ${oneLine(name, 64).padEnd(width)}  ${shown(name, value)}`),
    ...(more > 0 ? [`  (${count(more, "more output")}: see --json)`] : []),
  ];
}
