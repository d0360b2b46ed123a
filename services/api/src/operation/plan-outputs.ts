import type { StepRun } from "@planwright/engine";
import {
  emptyOutputs,
  isTerminalPlanStatus,
  type JsonObject,
  type JsonValue,
  LARGE_JSON_BYTES,
  mapJson,
  outputParts,
  outputSteps,
  type Plan,
  type PlanId,
  resolveOutputs,
  scanReferences,
  stringifyExactJson,
} from "@planwright/plan";
import { createJobThreads, ThreadEndedError } from "@planwright/runtime";
import type { PlanGraph, PlanHead } from "@planwright/store";
import { AnswerTooLargeError } from "../errors/api-error.ts";
import { jsonBytes } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "./context.ts";
import { type LargePart, makeLargePart } from "./large-part.ts";
import {
  type KeptOutput,
  type OutputReference,
  outputBytes,
  type Reads,
  referenceToPart,
  referenceToStep,
} from "./reads.ts";

/** Outputs by step id or by name, in the order of the plan. */
export type PlanOutputs = ReadonlyMap<string, KeptOutput>;

/** Dependencies of reading outputs. */
type OutputReads = Pick<GraphqlContext, "bytes" | "reads">;

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
  // Making a value of large outputs would block the process: such parts are references, and are not read here.
  const heavy = new Map<string, OutputReference>();
  const steps = hasResults(head) ? [] : await completedSteps(planId, reads);
  for (const [name, part] of Object.entries(parts)) {
    const step = stepOfPart(part, steps);
    const isLarge = step
      ? (step.outputRef?.sizeBytes ?? 0) > inlineBytes
      : bytesOf(stepsOfPart(part, steps)) > LARGE_JSON_BYTES;
    const { ref, ...unread } = referenceToPart(planId, name, null);
    if (isLarge) heavy.set(name, { ...(step ? referenceToStep(step) : unread), ref });
  }
  const light = Object.keys(parts).filter((name) => !heavy.has(name));
  const made = await readParts(planId, light, reads, (sizeBytes) => bytes.reserve(sizeBytes));
  return new Map(
    Object.keys(parts).flatMap((name): [string, KeptOutput][] => {
      const reference = heavy.get(name);
      if (reference) return [[name, { reference }]];
      // Nothing was read: the outputs do not fit.
      if (!made) return [[name, { reference: referenceToPart(planId, name, null) }]];
      const value = Object.hasOwn(made, name) ? made[name] : undefined;
      if (value === undefined) return [];
      const text = stringifyExactJson(value);
      const isInline = Buffer.byteLength(text) <= inlineBytes;
      return [[name, isInline ? { value } : { reference: referenceToPart(planId, name, text) }]];
    }),
  );
}

/**
 * The JSON text of a named output, in order: short texts, and between them the steps whose stored outputs follow as
 * they are. Undefined for an output that has to be made as a value: it refers to a field of a large output, or has
 * one inside a text, or is longer than a named output may be.
 */
export async function composePart(
  planId: PlanId,
  name: string,
  reads: Reads,
): Promise<(string | StepRun)[] | undefined> {
  const named = await namedPart(planId, name, reads);
  if (!named || hasResults(named.head)) return undefined;
  const { plan, part } = named;
  const steps = await completedSteps(planId, reads);
  // What tools returned cannot contain it.
  const prefix = crypto.randomUUID();
  const spliced: StepRun[] = [];
  let sizeBytes = 0;
  const template = mapJson(part, (text) => {
    const step = stepOfPart(text, steps);
    if (!step) return text;
    sizeBytes += step.outputRef?.sizeBytes ?? 0;
    return `${prefix}:${spliced.push(step) - 1}`;
  });
  const others = stepsOfPart(template, steps);
  const isLong = sizeBytes > emptyOutputs().room || bytesOf(others) > LARGE_JSON_BYTES;
  if (spliced.length === 0 || isLong) return undefined;
  const known = await outputsOf(others, reads);
  const { [name]: value } = resolveOutputs({ ...plan, outputs: { [name]: template } }, known).outputs;
  if (value === undefined || jsonBytes(value, LARGE_JSON_BYTES) > LARGE_JSON_BYTES) return undefined;
  return stringifyExactJson(value)
    .split(new RegExp(`"${prefix}:(\\d+)"`))
    .flatMap((text, index) => (index % 2 === 0 ? text || [] : (spliced[Number(text)] ?? [])));
}

/** A named output as its plan has it; undefined when the plan has no such output. */
async function namedPart(
  planId: PlanId,
  name: string,
  reads: Reads,
): Promise<{ head: PlanHead; plan: Plan; part: JsonValue } | undefined> {
  const [head, graph] = await Promise.all([reads.plan(planId), reads.graph(planId)]);
  const parts = outputParts(graph?.plan?.outputs);
  if (!head || !graph?.plan || !parts || !Object.hasOwn(parts, name)) return undefined;
  return { head, plan: graph.plan, part: parts[name] ?? null };
}

/** The outputs of steps as values, by id. */
async function outputsOf(steps: readonly StepRun[], reads: Reads): Promise<Map<string, JsonValue>> {
  return new Map(
    await Promise.all(steps.map(async (step) => [step.stepId, await reads.wholeOutput(step)] as const)),
  );
}

/**
 * The step whose stored output a part is: for one that is only a reference to a step, and whose value is an object
 * or a list. Undefined for any other, and for an output that is not stored separately.
 */
function stepOfPart(part: JsonValue, steps: readonly StepRun[]): StepRun | undefined {
  if (typeof part !== "string") return undefined;
  const [reference] = scanReferences(part);
  if (!reference?.isWhole || reference.path.length > 0) return undefined;
  const step = steps.find(({ stepId }) => stepId === reference.root);
  // A text may be JSON, which is its value in a named output.
  return /^\s*[{[]/.test(step?.outputRef?.preview ?? "") ? step : undefined;
}

/** The completed steps that a named output refers to. */
function stepsOfPart(part: JsonValue, steps: readonly StepRun[]): StepRun[] {
  const roots = new Set(scanReferences(part).map(({ root }) => root));
  return steps.filter(({ stepId, tool }) => roots.has(stepId) || roots.has(tool));
}

function bytesOf(steps: readonly StepRun[]): number {
  return steps.reduce((sum, step) => sum + outputBytes(step), 0);
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
    await Promise.all(found.map(async (step) => [step.stepId, await reads.output(step, "outputs")] as const)),
  );
}

/**
 * Named outputs of a plan, complete: from its document, or composed of the outputs of its steps. Outputs that
 * cannot be composed are left out.
 * @param mayRead - called with the bytes to read; when it returns false, the result is undefined
 */
async function readParts(
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
  const steps = stepsOfPart(wanted, await completedSteps(planId, reads));
  if (!mayRead(bytesOf(steps))) return undefined;
  const known = await outputsOf(steps, reads);
  return resolveOutputs({ ...graph.plan, outputs: wanted }, known).outputs;
}

/** The text and the bytes of it are in memory together. */
const COPIES = 2;
/** Longest outputs, together, of which a named output is made: that of one list may be as long. */
const MAX_PART_BYTES = 67_108_864;

/** Starts no thread before the first large part. */
const threads = createJobThreads<LargePart, Uint8Array | null>({
  file: new URL("./large-part-worker.js", import.meta.url),
  perform: makeLargePart,
});

/**
 * The JSON text of a named output that {@link composePart} does not compose, in UTF-8; undefined when it cannot be
 * made. Another thread makes it of large outputs.
 * @param hold - called with the bytes that are in memory before they are read
 * @throws {AnswerTooLargeError} when it refers to more than 64 MiB of outputs
 * @throws {OverloadedError}
 */
export async function makePart(
  planId: PlanId,
  name: string,
  { store, tenant, reads }: Pick<GraphqlContext, "store" | "tenant" | "reads">,
  hold: (bytes: number) => Promise<void>,
): Promise<Uint8Array | undefined> {
  const named = await namedPart(planId, name, reads);
  if (!named) return undefined;
  const { head, plan, part } = named;
  const steps = hasResults(head) ? [] : stepsOfPart(part, await completedSteps(planId, reads));
  const sizeBytes = bytesOf(steps);
  if (sizeBytes <= LARGE_JSON_BYTES) {
    const found = (await readParts(planId, [name], reads, () => true)) ?? {};
    const value = Object.hasOwn(found, name) ? found[name] : undefined;
    if (value === undefined) return undefined;
    // It may contain one output of a step a thousand times.
    await hold(jsonBytes(value, Number.POSITIVE_INFINITY) * COPIES);
    return Buffer.from(stringifyExactJson(value));
  }
  if (sizeBytes > MAX_PART_BYTES) throw new AnswerTooLargeError(MAX_PART_BYTES);
  await hold(sizeBytes * COPIES);
  const values = await outputsOf(
    steps.filter(({ outputRef }) => !outputRef),
    reads,
  );
  const texts = steps.map(async ({ stepId, outputRef }) => {
    if (!outputRef) return [];
    const pieces: Uint8Array[] = [];
    const count = (await store.measureOutputParts(tenant, outputRef)).length;
    for (let index = 0; index < count; index += 1)
      pieces.push(await store.readOutputPart(tenant, outputRef, index));
    return [[stepId, pieces] as const];
  });
  const large = {
    name,
    part,
    policy: plan.policy,
    values: [...values],
    texts: (await Promise.all(texts)).flat(),
  };
  try {
    return (await threads.perform(large)) ?? undefined;
  } catch (error) {
    if (error instanceof ThreadEndedError) throw new AnswerTooLargeError(MAX_PART_BYTES);
    throw error;
  }
}

/** Size of `{outputs: {}}` in the document of a plan, in bytes. */
const NO_RESULTS = 19;

const hasResults = ({ resultBytes }: PlanHead): boolean => resultBytes > NO_RESULTS;

async function completedSteps(planId: PlanId, reads: Reads): Promise<StepRun[]> {
  return (await reads.steps(planId)).filter(({ item, status }) => item === null && status === "COMPLETED");
}
