import type { StepRun } from "@planwright/engine";
import type { JsonValue, PlanId, RequestId } from "@planwright/plan";
import {
  type ClientStore,
  type DiagnosedUnits,
  diagnosedUnits,
  type ModelCallHead,
  type ModelCallTexts,
  type PlanGraph,
  type PlanHead,
  type PlanResults,
  type PlanTexts,
  type RequestDocument,
} from "@planwright/store";
import DataLoader from "dataloader";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import type { AnswerBytes } from "../load/answer-bytes.ts";
import { readInSlices } from "../load/read-in-slices.ts";
import { type KeptOutput, referenceToStep } from "./output-reference.ts";
import { createPageReads, type PageReads } from "./page-reads.ts";

/**
 * Reads of one operation: each document once, and documents of many requests or plans in one read. Large
 * parts are read separately, only if they are selected, and only within the limits of the answer.
 *
 * Each read may throw `AnswerTooLargeError` or `OverloadedError` before it starts.
 */
export interface Reads extends Omit<PageReads, "primeSteps" | "forgetPages"> {
  request(requestId: RequestId): Promise<RequestDocument | null>;
  plan(planId: PlanId): Promise<PlanHead | null>;
  /** The plan document. */
  graph(planId: PlanId): Promise<PlanGraph | null>;
  /** The submission or the answer of the model, and its diagnostics. */
  texts(planId: PlanId): Promise<PlanTexts | null>;
  /** Outputs that are stored in the document of the plan. */
  results(planId: PlanId): Promise<PlanResults | null>;
  /** All versions, newest first. */
  plansOf(request: RequestDocument): Promise<PlanHead[]>;
  /** Steps and items in plan order. */
  steps(planId: PlanId): Promise<StepRun[]>;
  /** Those of them that a diagnosis may name. */
  diagnosedUnits(planId: PlanId): Promise<DiagnosedUnits<StepRun>>;
  /** Steps by status; items are not counted. */
  stepCounts(planId: PlanId): Promise<StatusCount[]>;
  /** How long a plan waited only for people until `at`, or its end, in milliseconds. */
  waitedForPeopleMs(planId: PlanId, at: Date): Promise<number>;
  /** The step with its arguments, and with the data of its errors. */
  withBody(step: StepRun): Promise<StepRun>;
  /**
   * The output of a step; null until it is COMPLETED. A reference if the output is too large to be inline, or
   * does not fit into the answer.
   * @param place - the field that contains it: a plan and its steps each need room for it
   * @param copies - how often that field contains it; 2 for text inside text
   */
  output(step: StepRun, place: OutputPlace, copies?: number): Promise<KeptOutput>;
  /** The complete output, whatever its size. */
  wholeOutput(step: StepRun): Promise<JsonValue>;
  modelCalls(requestId: RequestId): Promise<ModelCallHead[]>;
  /** The last entry of the request's journal; 0 before the first. */
  lastSeq(requestId: RequestId): Promise<number>;
  modelCallTexts(call: ModelCallHead): Promise<ModelCallTexts | null>;
  /** Computes a value once for each answer. @param name - key of the value */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** Adds requests that were read elsewhere. */
  prime(requests: readonly RequestDocument[]): void;
  /** Adds a request with its plan. */
  primeState(state: Pick<RequestSnapshot, "request" | "plan">): void;
  /** The same with its steps. */
  primeSnapshot(snapshot: RequestSnapshot): void;
  /** Clears the cache before a mutation changes the data. */
  forget(): void;
}

/** Fields that contain outputs of steps: of the step, of its plan, and of older clients. */
export type OutputPlace = "step" | "outputs" | "results";

/** Steps of a plan in one status. */
export type StatusCount = Pick<StepRun, "status"> & { count: number };

/** Estimated size of a head of a request or plan with its small outputs, in bytes. */
const HEAD_BYTES = 2_048;
/** The same for a step. */
const STEP_HEAD_BYTES = 640;

/** New reads with an empty cache, for one operation. */
export function createReads(store: ClientStore, tenant: string, bytes: AnswerBytes): Reads {
  const { primeSteps, forgetPages, ...pageReads } = createPageReads(store, tenant, bytes);
  const requests = new DataLoader<RequestId, RequestDocument | null>(async (ids) => {
    await bytes.reading(ids.length * HEAD_BYTES);
    return store.getRequests(tenant, ids);
  });
  const plans = new DataLoader<PlanId, PlanHead | null>(async (ids) => {
    await bytes.reading(ids.length * HEAD_BYTES);
    return store.getPlanHeads(tenant, ids);
  });
  const versions = new DataLoader<RequestId, PlanHead[]>(async (ids) => {
    const found = await store.listPlanHeadsOf(tenant, ids);
    await bytes.reading(found.length * HEAD_BYTES);
    for (const plan of found) plans.prime(plan._id, plan);
    return listsById(ids, found, ({ requestId }) => requestId);
  });
  const modelCalls = new DataLoader<RequestId, ModelCallHead[]>(async (ids) => {
    const found = await store.listModelCallHeadsOf(tenant, ids);
    await bytes.reading(found.length * HEAD_BYTES);
    return listsById(ids, found, ({ requestId }) => requestId);
  });
  const steps = new DataLoader<PlanId, StepRun[]>(async (ids) => {
    const heads = await Promise.all(ids.map((id) => plans.load(id)));
    await bytes.reading(heads.reduce((sum, head) => sum + unitsOf(head) * STEP_HEAD_BYTES, 0));
    return listsById(ids, await store.listStepHeads(tenant, ids), ({ planId }) => planId);
  });
  const diagnosed = new DataLoader<PlanId, DiagnosedUnits<StepRun>>((ids) =>
    Promise.all(
      ids.map(async (id) => {
        const found = await store.listDiagnosedUnits(tenant, id);
        await bytes.reading(found.units.length * STEP_HEAD_BYTES);
        return found;
      }),
    ),
  );
  const counts = new DataLoader<PlanId, StatusCount[]>(async (ids) =>
    listsById(ids, await store.countStepStatuses(tenant, ids), ({ planId }) => planId),
  );

  const lastSeqs = new DataLoader<RequestId, number>((ids) => store.readLastSeqs(tenant, ids));

  /** A loader for parts of documents whose sizes are known. */
  function partsOf<Id extends string, Part extends { _id: string }>(
    read: (ids: readonly Id[]) => Promise<Part[]>,
  ): DataLoader<{ id: Id; sizeBytes: number }, Part | null, string> {
    return new DataLoader(
      async (wanted) => {
        const found = await readInSlices(bytes, wanted, (slice) => read(slice.map(({ id }) => id)));
        const byId = new Map(found.map((part) => [part._id, part]));
        return wanted.map(({ id }) => byId.get(id) ?? null);
      },
      { cacheKeyFn: ({ id }) => id },
    );
  }

  /** A loader for values of steps. */
  function valuesOf(
    wanted: { body?: boolean; output?: boolean },
    sizeOf: (step: StepRun) => number,
  ): DataLoader<StepRun, StepRun, string> {
    return new DataLoader(
      async (steps) => {
        const sized = steps.map((step) => ({ step, sizeBytes: sizeOf(step) }));
        const found = await readInSlices(bytes, sized, (slice) =>
          store.readStepValues(
            tenant,
            slice.map(({ step }) => step),
            wanted,
          ),
        );
        const byId = new Map(found.map((step) => [nameOf(step), step]));
        return steps.map((step) => byId.get(nameOf(step)) ?? step);
      },
      { cacheKeyFn: nameOf },
    );
  }

  const bodies = valuesOf({ body: true }, bodyBytes);
  const inlineOutputs = valuesOf({ output: true }, ({ outputBytes = 0 }) => outputBytes);
  const graphs = partsOf((ids: readonly PlanId[]) => store.readPlanGraphs(tenant, ids));
  const texts = partsOf((ids: readonly PlanId[]) => store.readPlanTexts(tenant, ids));
  const results = partsOf((ids: readonly PlanId[]) => store.readPlanResults(tenant, ids));
  const callTexts = partsOf((ids: readonly string[]) => store.readModelCallTexts(tenant, ids));
  const separateOutputs = new DataLoader<StepRun, JsonValue, string>(
    async (wanted) => {
      const refs = wanted.flatMap(({ outputRef }) => outputRef ?? []);
      const found = await readInSlices(bytes, refs, async (slice) => [
        ...(await store.readOutputs(tenant, slice)),
      ]);
      const values = new Map(found);
      return wanted.map(({ outputRef }) => values.get(outputRef?.id ?? "") ?? null);
    },
    { cacheKeyFn: ({ outputRef }) => outputRef?.id ?? "" },
  );

  /** Loads a part of a plan; the head of the plan knows its size. */
  async function ofPlan<Part>(
    planId: PlanId,
    loader: DataLoader<{ id: PlanId; sizeBytes: number }, Part | null, string>,
    size: "graphBytes" | "textBytes" | "resultBytes",
  ): Promise<Part | null> {
    const head = await plans.load(planId);
    return head && loader.load({ id: planId, sizeBytes: head[size] });
  }

  async function wholeOutput(step: StepRun): Promise<JsonValue> {
    if (step.status !== "COMPLETED") return null;
    if (step.outputRef) return separateOutputs.load(step);
    return (await inlineOutputs.load(step)).output ?? null;
  }

  async function output(step: StepRun, copies: number): Promise<KeptOutput> {
    if (step.status !== "COMPLETED") return { value: null };
    const sizeBytes = outputBytes(step);
    const isInline = sizeBytes <= bytes.limits.inlineBytes && bytes.reserve(sizeBytes * copies);
    return isInline ? { value: await wholeOutput(step) } : { reference: referenceToStep(step) };
  }

  const computed = new Map<string, Promise<unknown>>();
  function once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = computed.get(name) as Promise<T> | undefined;
    if (known) return known;
    const fresh = make();
    computed.set(name, fresh);
    return fresh;
  }

  function primeState({ request, plan }: Pick<RequestSnapshot, "request" | "plan">): void {
    requests.prime(request._id, request);
    plans.prime(request.planId, plan);
  }

  return {
    ...pageReads,
    wholeOutput,
    once,
    output: (step, place, copies = 1) => once(`output ${place} ${nameOf(step)}`, () => output(step, copies)),
    request: (requestId) => requests.load(requestId),
    plan: (planId) => plans.load(planId),
    graph: (planId) => ofPlan(planId, graphs, "graphBytes"),
    texts: (planId) => ofPlan(planId, texts, "textBytes"),
    results: (planId) => ofPlan(planId, results, "resultBytes"),
    async plansOf(request) {
      if (request.version > 1) return versions.load(request._id);
      const only = await plans.load(request.planId);
      return only ? [only] : [];
    },
    steps: (planId) => steps.load(planId),
    diagnosedUnits: (planId) => diagnosed.load(planId),
    stepCounts: (planId) => counts.load(planId),
    waitedForPeopleMs: (planId, at) =>
      once(`waited ${planId}`, () => store.waitedForPeopleMs(tenant, planId, at)),
    withBody: (step) => bodies.load(step),
    modelCalls: (requestId) => modelCalls.load(requestId),
    lastSeq: (requestId) => lastSeqs.load(requestId),
    modelCallTexts: ({ _id: id, textBytes: sizeBytes }) => callTexts.load({ id, sizeBytes }),
    prime(found) {
      for (const request of found) requests.prime(request._id, request);
    },
    primeState,
    primeSnapshot({ request, plan, steps: units }) {
      primeState({ request, plan });
      steps.prime(request.planId, units);
      diagnosed.prime(request.planId, diagnosedUnits(units));
      primeSteps(request.planId, units);
    },
    forget() {
      forgetPages();
      computed.clear();
      const heads = [requests, plans, versions, modelCalls, steps, diagnosed, counts, lastSeqs];
      const parts = [graphs, texts, results, bodies, callTexts, inlineOutputs, separateOutputs];
      for (const loader of [...heads, ...parts]) loader.clearAll();
    },
  };
}

/** A step in one state: another state of it may be part of the same answer. */
const nameOf = ({ planId, key, seq }: StepRun): string => `${planId}/${key}@${seq}`;

/** Size of an output as JSON text in UTF-8, in bytes; 0 without one. */
export function outputBytes({
  outputRef,
  outputBytes: inline = 0,
}: Pick<StepRun, "outputRef" | "outputBytes">): number {
  return outputRef?.sizeBytes ?? inline;
}

/** Approximate stored size of an attempt or an error in bytes, without the data that its tool added. */
const ATTEMPT_BYTES = 300;
const ERROR_BYTES = 100;
/** The journal has only the beginning of longer arguments. */
const MAX_ARGUMENT_BYTES = 32_768;

/** Approximate size of the arguments, the attempts and the errors of a step, in bytes. */
export function bodyBytes({ arguments: args, attempts, error }: StepRun): number {
  const bytesOf = (one: StepRun["error"]): number =>
    one ? ERROR_BYTES + one.message.length + (one.dataBytes ?? 0) : 0;
  const attemptBytes = attempts.reduce((sum, one) => sum + ATTEMPT_BYTES + bytesOf(one.error), 0);
  return Math.min(args?.sizeBytes ?? 0, MAX_ARGUMENT_BYTES) + attemptBytes + bytesOf(error);
}

/** Most steps and items of a plan. */
function unitsOf(head: PlanHead | null): number {
  return (head?.steps ?? 0) + (head?.items ?? 0);
}

/** Groups by id, in the order of the ids; the order inside a group is kept. */
function listsById<Id, T>(ids: readonly Id[], found: readonly T[], idOf: (one: T) => Id): T[][] {
  const lists = new Map<Id, T[]>(ids.map((id) => [id, []]));
  for (const one of found) lists.get(idOf(one))?.push(one);
  return ids.map((id) => lists.get(id) ?? []);
}
