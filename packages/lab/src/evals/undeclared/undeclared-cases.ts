import {
  argumentsOfStep,
  canonicalJson,
  isForEachStep,
  type observeOutput,
  type Plan,
  type Step,
  scanReferences,
  type ToolDescriptor,
} from "@planwright/plan";
import type { EvalCase } from "../cases/eval-case.ts";
import { languageCases } from "../cases/language-cases.ts";
import { modelCases } from "../cases/model-cases.ts";
import { offlineCases } from "../cases/offline-cases.ts";
import { type Answers, answersIn } from "../cases/world.ts";
import { sampleOutput } from "./sample-output.ts";

/** A request whose plan needs fields of outputs, with tools that declare no outputs. */
export interface UndeclaredCase extends Pick<EvalCase, "id" | "query" | "context"> {
  /** The tools with their declared outputs, which no prompt shows. */
  tools: readonly ToolDescriptor[];
  wanted: Pick<Plan, "steps" | "outputs">;
  /** Answers of the tools when the plan runs. */
  worlds: readonly Answers[];
}

/** Adds one output to the observed outputs; executors use {@link observeOutput}. */
export type Learner = typeof observeOutput;

/** The requests of the other groups whose wanted plans refer to outputs, each once. */
export function undeclaredCases(): UndeclaredCase[] {
  const byRequest = new Map(
    [...offlineCases(), ...modelCases(), ...languageCases()]
      .toReversed()
      .map((each) => [`${each.domain}: ${each.query}`, each]),
  );
  return [...byRequest.values()].toReversed().flatMap((each) => {
    const { id, query, context, tools, wanted, worlds } = each;
    if (wanted.type !== "plan" || !wanted.plan.steps.some(refersToOutput)) return [];
    const answers = worlds?.map((world) => answersIn(world, tools)) ?? [answersBySchema(tools)];
    return [{ id, query, context, tools, wanted: wanted.plan, worlds: answers }];
  });
}

const refersToOutput = (step: Step) =>
  scanReferences([argumentsOfStep(step), step.when ?? null]).length > 0 ||
  (isForEachStep(step) && scanReferences(step.forEach.items).length > 0);

/** Every tool answers with a sample of its output schema; the values differ for every call. */
function answersBySchema(tools: readonly ToolDescriptor[]): Answers {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (call) => sampleOutput(byName.get(call.tool)?.outputSchema, { salt: canonicalJson(call) });
}

/**
 * The tools as a planner sees them after this number of recorded runs of each: without output schemas, with
 * observed outputs.
 */
export function afterRuns(tools: readonly ToolDescriptor[], runs: number, learn: Learner): ToolDescriptor[] {
  return tools.map(({ outputSchema, ...tool }) => {
    if (!outputSchema || runs === 0) return tool;
    const outputs = Array.from({ length: runs }, (_, run) =>
      sampleOutput(outputSchema, { salt: `${tool.name}, run ${run}`, isPartial: true }),
    );
    const observedOutput = outputs.reduce<ReturnType<Learner> | undefined>(
      (known, output) => learn(known, output),
      undefined,
    );
    return { ...tool, ...(observedOutput && { observedOutput }) };
  });
}
