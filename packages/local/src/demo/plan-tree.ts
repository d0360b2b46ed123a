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
 * Lines of a small tree: each step stands under the dependency that comes last in the plan, with status, duration, the
 * arguments that were sent, and the output or the error. Each step appears once.
 */
export function planTree(steps: readonly ShownStep[]): string[] {
  const position = new Map(steps.map((step, index) => [step.id, index]));
  const parentOf = (step: ShownStep) =>
    step.dependsOn
      .filter((id) => position.has(id))
      .toSorted((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0))
      .at(-1);
  const childrenOf = (parent: string | undefined) => steps.filter((step) => parentOf(step) === parent);
  const draw = (level: readonly ShownStep[], indent: string): string[] =>
    level.flatMap((step, index) => {
      const isLast = index === level.length - 1;
      const children = childrenOf(step.id);
      const below = indent + (isLast ? "   " : "│  ");
      const beside = below + (children.length > 0 ? "│    " : "     ");
      return [
        `${indent}${isLast ? "└─ " : "├─ "}${titleOf(step)}`,
        ...detailsOf(step).map((line) => beside + line),
        ...draw(children, below),
      ];
    });
  return draw(childrenOf(undefined), "");
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
