import {
  isTerminalPlanStatus,
  type JsonObject,
  type JsonValue,
  outputParts,
  outputSteps,
  type PlanId,
  resolveOutputs,
  scanReferences,
  stringifyExactJson,
} from "@planwright/plan";
import type { PlanGraph, PlanHead, StepHead } from "@planwright/store";
import type { GraphqlContext } from "../operation/context.ts";
import { type KeptOutput, type OutputReference, referenceToPart } from "../operation/output-reference.ts";
import type { Reads } from "../operation/reads.ts";

/** Outputs by step id or by name, in the order of the plan. */
export type PlanOutputs = ReadonlyMap<string, KeptOutput>;

/** Dependencies of reading outputs. */
export type OutputReads = Pick<GraphqlContext, "bytes" | "reads">;

/**
 * The outputs of an ended plan: the requested ones, or all, without those of steps that did not complete.
 * Large outputs are references. Null for a plan that has not ended or never ran.
 * @throws {AnswerTooLargeError | OverloadedError}
 */
export function readPlanOutputs(planId: PlanId, context: OutputReads): Promise<PlanOutputs | null> {
  return context.reads.once(`outputs ${planId}`, () => readOutputs(planId, context));
}

async function readOutputs(planId: PlanId, { bytes, reads }: OutputReads): Promise<PlanOutputs | null> {
  const head = await reads.plan(planId);
  if (!head || head.epoch === 0 || !isTerminalPlanStatus(head.status)) return null;
  const { inlineBytes } = bytes.limits;
  if (hasResults(head) && head.resultBytes <= inlineBytes && bytes.reserve(head.resultBytes)) {
    const small = head.smallOutputs ?? (await reads.results(planId))?.outputs;
    if (small) return new Map(Object.entries(small).map(([name, value]) => [name, { value }]));
  }
  const graph = await reads.graph(planId);
  if (!graph?.plan) return null;
  const parts = outputParts(graph.plan.outputs);
  if (!parts) return outputsOfSteps(graph, reads);
  const made = await readParts(planId, Object.keys(parts), reads, (sizeBytes) => bytes.reserve(sizeBytes));
  // Nothing was read: the outputs do not fit.
  if (!made)
    return new Map(
      Object.keys(parts).map((name) => [name, { reference: referenceToPart(planId, name, null) }]),
    );
  return new Map(
    Object.entries(made).map(([name, value]): [string, KeptOutput] => {
      const text = stringifyExactJson(value);
      const isInline = Buffer.byteLength(text) <= inlineBytes;
      return [name, isInline ? { value } : { reference: referenceToPart(planId, name, text) }];
    }),
  );
}

/** Only the outputs that are references. */
export async function readOutputReferences(
  planId: PlanId,
  context: OutputReads,
): Promise<(OutputReference & { name: string })[]> {
  const outputs = await readPlanOutputs(planId, context);
  return [...(outputs ?? [])].flatMap(([name, kept]) =>
    "reference" in kept ? [{ name, ...kept.reference }] : [],
  );
}

async function outputsOfSteps({ _id, plan }: PlanGraph, reads: Reads): Promise<PlanOutputs> {
  const steps = new Map((await completedSteps(_id, reads)).map((step) => [step.stepId, step]));
  const wanted = outputSteps(plan?.outputs) ?? plan?.steps.map(({ id }) => id) ?? [];
  const found = wanted.flatMap((id) => steps.get(id) ?? []);
  return new Map(
    await Promise.all(found.map(async (step) => [step.stepId, await reads.output(step)] as const)),
  );
}

/**
 * Named outputs of a plan, complete: from its document, or composed of the outputs of its steps. Outputs that
 * cannot be composed are left out.
 * @param mayRead - called with the bytes to read; when it returns false, the result is undefined
 */
export async function readParts(
  planId: PlanId,
  names: readonly string[],
  reads: Reads,
  mayRead: (sizeBytes: number) => boolean,
): Promise<JsonObject | undefined> {
  const [head, graph] = await Promise.all([reads.plan(planId), reads.graph(planId)]);
  const parts = outputParts(graph?.plan?.outputs);
  if (!head || !graph?.plan || !parts) return {};
  const wanted = Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(parts, name) ? [[name, parts[name] ?? null]] : [])),
  );
  if (hasResults(head)) {
    if (!mayRead(head.resultBytes)) return undefined;
    const outputs = head.smallOutputs ?? (await reads.results(planId))?.outputs;
    if (outputs) {
      return Object.fromEntries(
        Object.keys(wanted).flatMap((name) =>
          Object.hasOwn(outputs, name) ? [[name, outputs[name] ?? null]] : [],
        ),
      );
    }
  }
  const roots = new Set(scanReferences(wanted).map(({ root }) => root));
  const steps = (await completedSteps(planId, reads)).filter(
    ({ stepId, tool }) => roots.has(stepId) || roots.has(tool),
  );
  const sizeBytes = steps.reduce(
    (sum, { outputRef, outputBytes }) => sum + (outputRef?.sizeBytes ?? outputBytes),
    0,
  );
  if (!mayRead(sizeBytes)) return undefined;
  const known = new Map<string, JsonValue>(
    await Promise.all(steps.map(async (step) => [step.stepId, await reads.wholeOutput(step)] as const)),
  );
  return resolveOutputs({ ...graph.plan, outputs: wanted }, known).outputs;
}
/** Size of `{outputs: {}}` in the document of a plan, in bytes. */
const NO_RESULTS = 19;

const hasResults = ({ resultBytes }: PlanHead): boolean => resultBytes > NO_RESULTS;

async function completedSteps(planId: PlanId, reads: Reads): Promise<StepHead[]> {
  return (await reads.steps(planId)).filter(({ item, status }) => item === null && status === "COMPLETED");
}
