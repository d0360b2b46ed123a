import { stepTree } from "@planwright/client";
import type { JsonValue } from "@planwright/plan";

/** One step as the demo shows it. */
export interface ShownStep {
  id: string;
  tool: string;
  status: string;
  dependsOn: readonly string[];
  /** As planned, with references. */
  arguments: JsonValue;
  /** As sent; null before the first attempt. */
  resolvedArguments: JsonValue;
  output: JsonValue;
  error: { code: string; message: string } | null;
  durationMs: number | null;
}

const WIDTH = 200;

/**
 * Lines of a small tree: each step once, below the dependency that comes last in the plan, with status,
 * duration, the arguments that were sent, and the output or the error.
 */
export function planTree(steps: readonly ShownStep[]): string[] {
  return stepTree(steps).flatMap(({ step, branch, below }) => [
    `${branch}${titleOf(step)}`,
    ...detailsOf(step).map((line) => `${below}  ${line}`),
  ]);
}

function titleOf(step: ShownStep): string {
  const name = step.id === step.tool ? step.id : `${step.id} (${step.tool})`;
  const duration = step.durationMs === null ? "" : `  ${Math.round(step.durationMs)} ms`;
  return `${name}  ${step.status}${duration}`;
}

function detailsOf(step: ShownStep): string[] {
  const lines: string[] = [];
  const planned = JSON.stringify(step.arguments);
  const sent = JSON.stringify(step.resolvedArguments);
  if (step.resolvedArguments === null || planned !== sent) lines.push(`planned    ${cut(planned)}`);
  if (step.resolvedArguments !== null) lines.push(`arguments  ${cut(sent)}`);
  if (step.output !== null) lines.push(`output     ${cut(JSON.stringify(step.output))}`);
  if (step.error) lines.push(`error      ${cut(step.error.message)}`);
  return lines;
}

/** One line, safe for a terminal: tools may answer with escape sequences. */
function cut(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ");
  return line.length > WIDTH ? `${line.slice(0, WIDTH)} ...` : line;
}
