import { type StepRun, waitedForPeopleMs } from "@planwright/engine";
import {
  type JsonValue,
  type PlanId,
  PlanIdSchema,
  type RequestId,
  remembered,
  type StepStatus,
  wholeCharacters,
} from "@planwright/plan";
import {
  type ClientStore,
  countSteps,
  countUnits,
  type DiagnosedUnits,
  diagnosedUnits,
  diagnosedUnitsOf,
  type EventHead,
  isStepWanted,
  type ListPage,
  type ModelCallHead,
  type ModelCallTexts,
  type Page,
  type PlanGraph,
  type PlanHead,
  type PlanResults,
  type PlanTexts,
  type PlanUnits,
  pageOfSteps,
  pageOfUnits,
  type RequestDocument,
  type StepFilter,
  type StepPage,
} from "@planwright/store";
import DataLoader from "dataloader";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { type AnswerBytes, readInSlices } from "../load/answer-bytes.ts";

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
  stepCounts(planId: PlanId): Promise<NonNullable<PlanHead["counts"]>>;
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
type OutputPlace = "step" | "outputs" | "results";

/** Estimated size of a head of a request or plan with its small outputs, in bytes. */
const HEAD_BYTES = 2_048;
/** The same for a step. */
const STEP_HEAD_BYTES = 640;

/** New reads with an empty cache, for one operation. */
export function createReads(store: ClientStore, tenant: string, bytes: AnswerBytes): Reads {
  const units = new DataLoader<PlanId, PlanUnits | null>((ids) =>
    Promise.all(ids.map((id) => store.readUnits(tenant, id))),
  );
  const { primeSteps, forgetPages, ...pageReads } = createPageReads({ store, tenant, bytes, units });
  const requests = new DataLoader<RequestId, RequestDocument | null>(async (ids) => {
    await bytes.reading(ids.length * HEAD_BYTES);
    return Promise.all(ids.map((id) => store.getRequest(tenant, id)));
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
        const read = await units.load(id);
        const found = read ? diagnosedUnitsOf(read) : diagnosedUnits<StepRun>([]);
        await bytes.reading(found.units.length * STEP_HEAD_BYTES);
        return found;
      }),
    ),
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
    async stepCounts(planId) {
      const { outline, plan } = (await units.load(planId)) ?? {};
      return countSteps(outline?.steps ?? [], plan?.units);
    },
    async waitedForPeopleMs(planId, at) {
      const { plan } = (await units.load(planId)) ?? {};
      return plan ? waitedForPeopleMs(plan, at) : 0;
    },
    withBody: (step) => bodies.load(step),
    modelCalls: (requestId) => modelCalls.load(requestId),
    lastSeq: (requestId) => lastSeqs.load(requestId),
    modelCallTexts: ({ _id: id, textBytes: sizeBytes }) => callTexts.load({ id, sizeBytes }),
    prime(found) {
      for (const request of found) requests.prime(request._id, request);
    },
    primeState,
    primeSnapshot({ request, plan, steps: runs }) {
      primeState({ request, plan });
      steps.prime(request.planId, runs);
      diagnosed.prime(request.planId, diagnosedUnits(runs));
      primeSteps(request.planId, runs);
    },
    forget() {
      forgetPages();
      computed.clear();
      const heads = [requests, plans, versions, modelCalls, units, steps, diagnosed, lastSeqs];
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

/** Reads of pages in one operation. Pages of several plans or requests with equal arguments are one read. */
interface PageReads {
  /** Steps and items in plan order. @throws {CursorInvalidError} */
  stepPage(planId: PlanId, page: StepPage): Promise<Page<StepRun>>;
  /** Number of steps and items that match. */
  stepCount(planId: PlanId, filter: StepFilter): Promise<number>;
  /** Status of a step; null for an unknown one. */
  stepStatus(planId: PlanId, stepId: string): Promise<StepStatus | null>;
  /** Versions, newest first. @throws {CursorInvalidError} */
  planPage(requestId: RequestId, page: ListPage): Promise<Page<PlanHead>>;
  /** Oldest first. @throws {CursorInvalidError} */
  modelCallPage(requestId: RequestId, page: ListPage): Promise<Page<ModelCallHead>>;
  /** Events in the order of the journal. @throws {CursorInvalidError} */
  eventPage(requestId: RequestId, page: ListPage): Promise<Page<EventHead>>;
  /** The latest events first, those before the cursor `after`. @throws {CursorInvalidError} */
  latestEventPage(requestId: RequestId, page: ListPage): Promise<Page<EventHead>>;
  /** Uses these steps for pages of this plan; they must be all its steps, in plan order. */
  primeSteps: (planId: PlanId, steps: readonly StepRun[]) => void;
  /** Clears the cache. */
  forgetPages: () => void;
}

/** Most plans or requests in one read. */
const MAX_LISTS = 100;
/** Estimated size of a head of a step, version, call or event, in bytes. */
const PAGE_HEAD_BYTES = 640;

/** What pages are read with. */
interface PageSources {
  store: ClientStore;
  tenant: string;
  bytes: AnswerBytes;
  units: DataLoader<PlanId, PlanUnits | null>;
}

/** New reads with an empty cache, for one operation. */
function createPageReads({ store, tenant, bytes, units }: PageSources): PageReads {
  /** Loads one page of each of several lists. Their estimated size is counted before the read. */
  function pagesOf<Id extends string, Part extends ListPage, Item>(
    read: (ids: readonly Id[], page: Part) => Promise<ReadonlyMap<Id, Page<Item>>>,
  ) {
    return loaderOf<Id, Part, Page<Item>>(
      async (ids, page) => {
        await bytes.reading(ids.length * page.first * PAGE_HEAD_BYTES);
        return read(ids, page);
      },
      { items: [], cursor: null },
    );
  }

  const primed = new Map<PlanId, readonly StepRun[]>();
  const pages = pagesOf(async (ids: readonly PlanId[], page: StepPage) => {
    const read = (await Promise.all(ids.map((id) => units.load(id)))).flatMap((found) => found ?? []);
    return new Map(read.map((found) => [found.outline.planId, pageOfUnits(found, page)]));
  });
  const plans = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listPlanPages(tenant, ids, page),
  );
  const modelCalls = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listModelCallPages(tenant, ids, page),
  );
  const events = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listEventPages(tenant, ids, page),
  );
  const latestEvents = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listLatestEventPages(tenant, ids, page),
  );
  return {
    async stepPage(planId, page) {
      const steps = primed.get(planId);
      return steps ? pageOfSteps(steps, page) : pages.load({ id: planId, part: page });
    },
    async stepCount(planId, filter) {
      const steps = primed.get(planId);
      if (steps) return steps.filter((step) => isStepWanted(step, filter)).length;
      const read = await units.load(planId);
      return read ? countUnits(read, filter) : 0;
    },
    async stepStatus(planId, stepId) {
      const steps = primed.get(planId);
      if (steps) return stepsByKey(steps).get(stepId)?.status ?? null;
      const { outline, plan } = (await units.load(planId)) ?? {};
      if (!outline?.steps.some(({ id }) => id === stepId)) return null;
      return plan?.units.get(stepId)?.status ?? "PENDING";
    },
    planPage: (id, part) => plans.load({ id, part }),
    modelCallPage: (id, part) => modelCalls.load({ id, part }),
    eventPage: (id, part) => events.load({ id, part }),
    latestEventPage: (id, part) => latestEvents.load({ id, part }),
    primeSteps: (planId, steps) => void primed.set(planId, steps),
    forgetPages() {
      primed.clear();
      for (const loader of [pages, plans, modelCalls, events, latestEvents]) loader.clearAll();
    },
  };
}

const stepsByKey = remembered((steps: readonly StepRun[]) => new Map(steps.map((step) => [step.key, step])));

/** A part of the data of an id. */
interface Key<Id, Part> {
  id: Id;
  part: Part;
}

/** A loader that reads the same part of several ids in one read. */
function loaderOf<Id extends string, Part extends object, T>(
  read: (ids: readonly Id[], part: Part) => Promise<ReadonlyMap<Id, T>>,
  none: T,
): DataLoader<Key<Id, Part>, T, string> {
  return new DataLoader<Key<Id, Part>, T, string>(
    async (keys) => {
      const groups = new Map<string, { part: Part; ids: Id[] }>();
      for (const { id, part } of keys) {
        const name = JSON.stringify(part);
        const group = groups.get(name) ?? { part, ids: [] };
        groups.set(name, group);
        group.ids.push(id);
      }
      const found = new Map(
        await Promise.all(
          [...groups].map(async ([name, { part, ids }]) => [name, await read(ids, part)] as const),
        ),
      );
      return keys.map(({ id, part }) => found.get(JSON.stringify(part))?.get(id) ?? none);
    },
    { cacheKeyFn: ({ id, part }) => JSON.stringify([id, part]), maxBatchSize: MAX_LISTS },
  );
}

/** Replaces an output that is too large for an answer. */
export interface OutputReference {
  /** Name for `output(ref)` and `GET /outputs/{ref}`. */
  ref: string;
  /** Size as JSON text in UTF-8, in bytes; null if it is not known without a read. */
  sizeBytes: number | null;
  /** The beginning of its JSON text, at most 1 KiB; null if it is not available. */
  preview: string | null;
}

/** An output, or its reference. */
export type KeptOutput = { value: JsonValue } | { reference: OutputReference };

/** A parsed reference: the output of a step or item, or a named output of the plan. */
type OutputName = { planId: PlanId } & ({ stepKey: string } | { part: string });

/** Reference to the output of a COMPLETED step or item. */
export function referenceToStep({
  planId,
  key,
  outputRef,
}: Pick<StepRun, "planId" | "key" | "outputRef">): OutputReference {
  const ref = `${planId}/steps/${key}`;
  // For an output in the document of its step, only the BSON size is known.
  return { ref, sizeBytes: outputRef?.sizeBytes ?? null, preview: outputRef?.preview ?? null };
}

/** Reference to a named output of a plan. @param text - its JSON text, if it was made */
export function referenceToPart(planId: PlanId, part: string, text: string | null): OutputReference {
  const ref = `${planId}/outputs/${part}`;
  if (text === null) return { ref, sizeBytes: null, preview: null };
  // Copied, because a slice would keep the complete text in memory.
  const preview = Buffer.from(wholeCharacters(text, PREVIEW_LENGTH)).toString();
  return { ref, sizeBytes: Buffer.byteLength(text), preview };
}
/** In UTF-16 units. */
const PREVIEW_LENGTH = 1_024;

/** The JSON value that is sent: the output or its reference. */
export const toJson = (kept: KeptOutput): JsonValue =>
  "reference" in kept ? { ...kept.reference } : kept.value;

/** Parses a reference; undefined for an invalid one. */
export function parseOutputRef(ref: string): OutputName | undefined {
  const [, id, kind, name] = /^([^/]{1,100})\/(steps|outputs)\/([^]{1,200})$/.exec(ref) ?? [];
  const planId = PlanIdSchema.safeParse(id);
  if (!planId.success || name === undefined) return undefined;
  return kind === "steps" ? { planId: planId.data, stepKey: name } : { planId: planId.data, part: name };
}
