/**
 * Everything about a request as one JSON document, in the API's own answers, for people who look for a cause without
 * access to the service.
 *
 * 1. Every value passes the redactor.
 * 2. Each section has its own size limit; together they are 7 eighths of an answer, and at most 7 MiB. Parts
 *    that do not fit are listed in `leftOut`, and are not read if their size is known before.
 * 3. An answer builds each bundle once, and counts it before: bundles that do not fit into the answer together
 *    are refused before they are read.
 * 4. It is built in slices: other answers are sent in between.
 */
import {
  BUNDLE_FORMAT,
  BUNDLED_REQUEST,
  BUNDLED_STEP,
  type DebugBundle,
  JOURNAL_EVENT,
  MODEL_CALL,
  PLAN_RUN,
  type ResultOf,
} from "@planwright/client";
import type { StepRun } from "@planwright/engine";
import {
  beginningOfText,
  changesSince,
  findPinnedTool,
  isJsonObject,
  type RequestId,
  type StepStatus,
  stringifyExactJson,
  type ToolDescriptor,
  type ToolPin,
  toolDigest,
} from "@planwright/plan";
import { redactInSteps, redactJson } from "@planwright/runtime";
import {
  type EventHead,
  type ModelCallHead,
  type Page,
  type PlanGraph,
  type PlanHead,
} from "@planwright/store";
import { type DocumentNode, execute, type GraphQLObjectType, GraphQLSchema, Kind } from "graphql";
import { rememberJsonBytes, runInSlices } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { bodyBytes, type KeptOutput, type Reads, referenceToStep } from "../operation/reads.ts";
import { findRequest } from "../plans/find-request.ts";
import { stepViews } from "../plans/step-views.ts";
import { toEventView } from "./journal.ts";

/** Versions whose steps are read, newest first. */
const MAX_VERSIONS = 20;
/** Most events of the journal that are read, the latest ones. */
const MAX_EVENTS = 2_000;
/** Largest answer that a bundle is made for, in bytes: the console and colleagues read the file as a whole. */
const MAX_BYTES = 8_388_608;

/**
 * @param schema - the API's own: a bundle holds its answers to the selections of the client
 * @throws {BadInputError | RequestNotFoundError | AnswerTooLargeError | OverloadedError}
 */
export async function debugBundle(
  context: GraphqlContext,
  requestId: string,
  schema: GraphQLSchema,
): Promise<object> {
  const { _id } = await findRequest(context, requestId);
  return context.reads.once(`bundle ${_id}`, () => makeBundle(context, _id, createSelector(schema, context)));
}

/** The keys of the client's type; what passed the redactor has no type of its own. */
type Bundle = { [Key in keyof DebugBundle]: unknown };

async function makeBundle(context: GraphqlContext, requestId: RequestId, select: Select): Promise<Bundle> {
  const { store, reads, nowMs, bytes } = context;
  const request = await findRequest(context, requestId);
  const [plans, modelCalls] = await Promise.all([reads.plansOf(request), reads.modelCalls(request._id)]);
  const maxBytes = Math.min(MAX_BYTES, bytes.limits.maxBytes);
  await bytes.making(estimatedBytes(plans, modelCalls, maxBytes));
  const catalogue = await reads.once("catalogue", () => store.toolCatalogue());
  const leftOut: DebugBundle["leftOut"] = [];
  const section = (sixteenths: number) => createBundleSection((maxBytes * sixteenths) / 16, leftOut);
  const inSlices = <T>(steps: Generator<void, T>) => runInSlices(bytes.limits.pace, steps);
  const bundledRequest = await inSlices(section(2).keep("request", await select(BUNDLED_REQUEST, request)));
  const { bundled, graphs } = await bundlePlans(context, select, plans, section(6), inSlices);
  const tools = await inSlices(bundleTools(graphs, catalogue));
  return {
    formatVersion: BUNDLE_FORMAT,
    requestId: request._id,
    generatedAt: new Date(nowMs).toISOString(),
    request: bundledRequest ?? null,
    plans: bundled,
    modelCalls: await bundleModelCalls(select, modelCalls, section(3), inSlices),
    tools: await inSlices(section(1).keepMany("tools", tools)),
    events: await bundleEvents(reads, select, request._id, section(2), inSlices),
    leftOut,
  };
}

/** Answers a fragment of the client for one record, as the API does in an operation. */
type Select = <Fragment extends DocumentNode>(
  fragment: Fragment,
  record: object,
  reads?: Reads,
) => Promise<ResultOf<Fragment>>;

function createSelector(schema: GraphQLSchema, context: GraphqlContext): Select {
  /** A bundle asks the same fragment of thousands of records. */
  const operations = new Map<DocumentNode, ReturnType<typeof operationOf>>();
  return async (fragment, record, reads = context.reads) => {
    const operation = operations.get(fragment) ?? operationOf(schema, fragment);
    operations.set(fragment, operation);
    const { data, errors } = await execute({
      ...operation,
      rootValue: record,
      contextValue: { ...context, reads },
    });
    if (errors?.[0]) throw errors[0].originalError ?? errors[0];
    return data as never;
  };
}

/** A fragment as an operation whose root is a record: the type of the record is in the place of Query. */
function operationOf(
  schema: GraphQLSchema,
  fragment: DocumentNode,
): { schema: GraphQLSchema; document: DocumentNode } {
  const [own] = fragment.definitions;
  if (own?.kind !== Kind.FRAGMENT_DEFINITION)
    throw new TypeError("A fragment comes before those that it uses");
  const query = schema.getType(own.typeCondition.name.value) as GraphQLObjectType;
  return {
    schema: new GraphQLSchema({ query, assumeValid: true }),
    document: {
      kind: Kind.DOCUMENT,
      definitions: [
        { kind: Kind.OPERATION_DEFINITION, operation: "query", selectionSet: own.selectionSet },
        ...fragment.definitions,
      ],
    } as DocumentNode,
  };
}

/** The size of a bundle, as far as it is known before anything is read. */
function estimatedBytes(
  plans: readonly PlanHead[],
  modelCalls: readonly ModelCallHead[],
  maxBytes: number,
): number {
  const ofPlans = plans
    .slice(0, MAX_VERSIONS)
    .map(
      ({ graphBytes, resultBytes, textBytes, steps, items = 0 }) =>
        graphBytes + resultBytes + textBytes + (steps + items) * HEAD_BYTES,
    );
  const ofCalls = modelCalls.map(({ textBytes }) => textBytes);
  const total = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, HEAD_BYTES);
  return Math.min(total(ofPlans), (maxBytes * 6) / 16) + Math.min(total(ofCalls), (maxBytes * 3) / 16);
}

/** Runs steps of work with pauses in between. */
type InSlices = <T>(steps: Generator<void, T>) => Promise<T>;

async function bundlePlans(
  { reads, liveWorkers, bytes }: Pick<GraphqlContext, "reads" | "liveWorkers" | "bytes">,
  select: Select,
  plans: readonly PlanHead[],
  section: BundleSection,
  inSlices: InSlices,
): Promise<{ bundled: unknown[]; graphs: (PlanHead & PlanGraph)[] }> {
  const live = await liveWorkers();
  const heads: unknown[] = [];
  // Diagnostics come with the texts of a version, for which there may be no room.
  const withoutTexts: Reads = { ...reads, texts: async () => null };
  for (const head of await Promise.all(plans.map((plan) => select(PLAN_RUN, plan, withoutTexts))))
    heads.push(await inSlices(section.keep("plans", head)));
  const bundled: unknown[] = [];
  const graphs: (PlanHead & PlanGraph)[] = [];
  let written = 0;
  // Two rounds of reads: first the newest version, which may fill the section alone, then all older versions
  // together.
  for (const versions of [plans.slice(0, 1), plans.slice(1, MAX_VERSIONS)]) {
    if (section.isFull()) break;
    const recorded = await Promise.all(versions.map((plan) => reads.steps(plan._id)));
    const claim = roomOf(section);
    const reading = versions.map((plan, index) => bundle(plan, recorded[index] ?? [], claim));
    for (const { graph, parts } of await Promise.all(reading)) {
      if (graph) graphs.push(graph);
      add(await inSlices(parts()));
    }
  }
  for (const plan of plans.slice(written)) {
    section.leaveOut(`plans.v${plan.version}.steps`, {
      count: plan.steps,
      sizeBytes: null,
      reason: "not read",
    });
    add({ document: null, steps: [], outputs: null, raw: null });
  }
  return { bundled, graphs };

  /** A version without its head is left out. */
  function add(parts: object): void {
    const head = heads[written];
    written += 1;
    if (isJsonObject(head)) bundled.push({ ...head, ...parts });
  }

  /** Reads a version. Its parts are kept later, so that versions use the space in their order. */
  async function bundle(plan: PlanHead, units: StepRun[], claim: ClaimRoom) {
    const where = `plans.v${plan.version}`;
    const part = <T>(name: string, sizeBytes: number, read: () => Promise<T>): Promise<T | null> | null => {
      if (claim(sizeBytes)) return read();
      section.leaveOut(`${where}.${name}`, { count: 1, sizeBytes, reason: "no room" });
      return null;
    };
    // Without the plan it is not known what a step waits for.
    const planned = part("document", plan.graphBytes, () => reads.graph(plan._id));
    const fitting = planned ? units.toSorted(byWeight).filter((unit) => claim(bytesOf(unit))) : [];
    const keys = new Set(fitting.map(({ key }) => key));
    const missing = units.filter(({ key }) => !keys.has(key));
    section.leaveOut(`${where}.steps`, {
      count: missing.length,
      sizeBytes: missing.reduce((sum, unit) => sum + bytesOf(unit), 0),
      reason: "no room",
    });
    const [graph, results, texts] = await Promise.all([
      planned,
      part("outputs", plan.resultBytes, () => reads.results(plan._id)),
      part("raw", plan.textBytes, () => reads.texts(plan._id)),
      ...fitting.flatMap((unit) => [reads.withBody(unit), unit.outputRef ? null : reads.wholeOutput(unit)]),
    ]);
    const { diagnostics } = texts ? await select(PLAN_RUN, plan) : { diagnostics: [] };
    const shown = stepViews({ ...plan, ...graph, plan: graph?.plan ?? null }, units, live);
    const steps = await bundleSteps(shown.filter(({ key }) => keys.has(key)));
    const parts = function* (): Generator<void, object> {
      return {
        document: (yield* section.keep(`${where}.document`, graph?.plan)) ?? null,
        steps: yield* section.keepMany(`${where}.steps`, steps, byWeight),
        outputs: (yield* section.keep(`${where}.outputs`, results?.outputs)) ?? null,
        raw: (yield* section.keep(`${where}.raw`, texts?.raw)) ?? null,
        diagnostics: (yield* section.keep(`${where}.diagnostics`, diagnostics)) ?? [],
      };
    };
    return { graph: graph && { ...plan, ...graph }, parts };
  }

  /** Some steps at a time: a plan may have ten thousand. */
  async function bundleSteps(steps: readonly object[]): Promise<ResultOf<typeof BUNDLED_STEP>[]> {
    const withSmallOutputs: Reads = { ...reads, output: (step) => smallOutput(step, reads) };
    const answers: ResultOf<typeof BUNDLED_STEP>[] = [];
    for (let from = 0; from < steps.length; from += STEPS_AT_ONCE) {
      const some = steps.slice(from, from + STEPS_AT_ONCE);
      answers.push(
        ...(await bytes.limits.pace(() =>
          Promise.all(some.map((step) => select(BUNDLED_STEP, step, withSmallOutputs))),
        )),
      );
    }
    return answers;
  }
}

const STEPS_AT_ONCE = 50;

/** Largest output that a bundle holds inline, in bytes of JSON in UTF-8. */
const MAX_OUTPUT_BYTES = 16_384;
const PREVIEW_LENGTH = 1_024;

/** The output of a step; a reference for one over 16 KiB. One that is stored separately is not read. */
async function smallOutput(step: StepRun, reads: Reads): Promise<KeptOutput> {
  if (step.status !== "COMPLETED") return { value: null };
  // What the preview of a stored output hides is not known: it is a part of a text.
  const reference = { ...referenceToStep(step), preview: null };
  if (step.outputRef) return { reference };
  const value = await reads.wholeOutput(step);
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes <= MAX_OUTPUT_BYTES) return { value };
  const text = stringifyExactJson(redactJson(value, { maxDepth: MAX_DEPTH }));
  const preview = beginningOfText(text, PREVIEW_LENGTH);
  return { reference: { ...reference, sizeBytes, preview } };
}

/** Failed and open steps before completed ones: they are more useful when not all fit. */
function byWeight(a: { status: string }, b: { status: string }): number {
  return WEIGHT[a.status as StepStatus] - WEIGHT[b.status as StepStatus];
}

const WEIGHT: Readonly<Record<StepStatus, number>> = {
  FAILED: 0,
  IN_DOUBT: 0,
  PENDING: 1,
  WAITING_APPROVAL: 1,
  RUNNING: 1,
  RETRYING: 1,
  SKIPPED: 1,
  CANCELLED: 1,
  COMPLETED: 2,
};

/** The latest events, oldest first. */
async function bundleEvents(
  reads: Reads,
  select: Select,
  requestId: RequestId,
  section: BundleSection,
  inSlices: InSlices,
): Promise<unknown[]> {
  const latest: EventHead[] = [];
  let after: string | null = null;
  do {
    const page: Page<EventHead> = await reads.latestEventPage(requestId, {
      first: 100,
      ...(after !== null && { after }),
    });
    latest.push(...page.items);
    after = page.cursor;
  } while (after !== null && latest.length < MAX_EVENTS);
  const found = latest.toReversed();
  const [oldest] = found;
  // Of the entry of the oldest event, earlier ones may be missing.
  const missing = oldest && after !== null ? oldest.seq - (oldest.position === 0 ? 1 : 0) : 0;
  section.leaveOut("events", { count: missing, sizeBytes: null, reason: "not read, in entries" });
  const events = await Promise.all(found.map((event) => select(JOURNAL_EVENT, toEventView(event))));
  return inSlices(section.keepMany("events", events, (a, b) => b.seq - a.seq));
}

async function bundleModelCalls(
  select: Select,
  calls: readonly ModelCallHead[],
  section: BundleSection,
  inSlices: InSlices,
): Promise<unknown[]> {
  const claim = roomOf(section);
  const chosen = new Set(calls.toSorted(newestFirst).filter(({ textBytes }) => claim(textBytes)));
  const missing = calls.filter((call) => !chosen.has(call));
  section.leaveOut("modelCalls", {
    count: missing.length,
    sizeBytes: missing.reduce((sum, { textBytes }) => sum + textBytes, 0),
    reason: "no room",
  });
  const read = await Promise.all(
    calls.filter((call) => chosen.has(call)).map((call) => select(MODEL_CALL, call)),
  );
  return inSlices(section.keepMany("modelCalls", read, newestFirst));
}

/** In operations of this process a time is still a date. */
const newestFirst = (a: { createdAt: Date | string }, b: { createdAt: Date | string }) =>
  new Date(b.createdAt).getTime() - new Date(a.createdAt).getTime();

/** Reserves space in a section before a read; false when it does not fit. */
type ClaimRoom = (sizeBytes: number) => boolean;

function roomOf(section: BundleSection): ClaimRoom {
  let room = section.room();
  return (sizeBytes) => {
    if (sizeBytes > room) return false;
    room -= sizeBytes;
    return true;
  };
}

/** Estimated size of a step; an output that is stored separately is not read. */
const bytesOf = (step: StepRun): number => HEAD_BYTES + bodyBytes(step) + (step.outputBytes ?? 0);
const HEAD_BYTES = 640;

/** A pinned tool of a plan, and the current tool. */
interface BundledTool {
  pin: ToolPin;
  /** Versions of the plan with this pin. */
  versions: number[];
  /** Null for a tool that no longer exists. */
  digestNow: string | null;
  /** What changed since it was pinned; empty when the descriptor is unchanged. */
  changedSince: string[];
  descriptorNow: ToolDescriptor | null;
}

/** Every pinned tool of the plans; each digest occurs once. Pure; a step for each tool. */
function* bundleTools(
  plans: readonly (Pick<PlanHead, "version"> & Pick<PlanGraph, "toolPins">)[],
  catalogue: readonly ToolDescriptor[],
): Generator<void, BundledTool[]> {
  const found = new Map<string, BundledTool>();
  for (const { version, toolPins = [] } of plans) {
    for (const pin of toolPins) {
      const key = `${pin.server ?? ""}/${pin.name}@${pin.digest}`;
      const known = found.get(key);
      if (known) known.versions.push(version);
      else {
        found.set(key, { ...currentTool(pin, catalogue), versions: [version] });
        yield;
      }
    }
  }
  return [...found.values()];
}

function currentTool(pin: ToolPin, catalogue: readonly ToolDescriptor[]): Omit<BundledTool, "versions"> {
  const tool = findPinnedTool(catalogue, pin.tool, pin);
  if (!tool) return { pin, digestNow: null, changedSince: [], descriptorNow: null };
  return { pin, digestNow: toolDigest(tool), changedSince: changesSince(pin, tool), descriptorNow: tool };
}

/** Longest text in a bundle, in UTF-16 units; longer texts are truncated. */
const MAX_TEXT = 131_072;
/** A plan has at most 90 levels, and may be quoted as text in the answer of a model. */
const MAX_DEPTH = 200;

/**
 * A part of a bundle with its own size limit; every value is redacted. What is long is done in steps, between
 * which the process does other work.
 */
interface BundleSection {
  /**
   * The value without secrets, with long texts truncated; undefined when it does not fit, which is recorded in
   * `leftOut`.
   */
  keep(where: string, value: unknown): Generator<void, unknown>;
  /**
   * The values that fit, in their order; values that come first in `byWeight` are kept first.
   */
  keepMany<T>(
    where: string,
    values: readonly T[],
    byWeight?: (a: T, b: T) => number,
  ): Generator<void, unknown[]>;
  /** Records parts that are not read. @param what - its sizeBytes is null if the size is not known */
  leaveOut(where: string, what: { count: number; sizeBytes: number | null; reason: string }): void;
  /** Bytes that still fit. */
  room(): number;
  /** True after something did not fit. */
  isFull(): boolean;
}

/** An empty section with a limit in bytes of JSON in UTF-8; what does not fit is added to `leftOut`. */
function createBundleSection(maxBytes: number, leftOut: DebugBundle["leftOut"]): BundleSection {
  let room = maxBytes;
  let isFull = false;

  function* keep(where: string, value: unknown): Generator<void, unknown> {
    if (value === undefined) return undefined;
    const clean = yield* redactInSteps(value, { maxDepth: MAX_DEPTH, maxText: MAX_TEXT });
    yield;
    const sizeBytes = Buffer.byteLength(JSON.stringify(clean));
    if (sizeBytes <= room) {
      room -= sizeBytes;
      return rememberJsonBytes(clean, sizeBytes);
    }
    isFull = true;
    const known = leftOut.find((one) => one.where === where && one.sizeBytes !== null);
    if (known) {
      known.count += 1;
      known.sizeBytes = (known.sizeBytes ?? 0) + sizeBytes;
    } else leftOut.push({ where, count: 1, sizeBytes, reason: "no room" });
    return undefined;
  }

  return {
    keep,
    *keepMany(where, values, byWeight = () => 0) {
      const order = [...values.entries()].toSorted(([, a], [, b]) => byWeight(a, b));
      const kept: { index: number; value: unknown }[] = [];
      for (const [index, value] of order) {
        kept.push({ index, value: yield* keep(where, value) });
        yield;
      }
      return kept
        .filter(({ value }) => value !== undefined)
        .toSorted((a, b) => a.index - b.index)
        .map(({ value }) => value);
    },
    leaveOut(where, what) {
      if (what.count === 0) return;
      isFull = true;
      leftOut.push({ where, ...what });
    },
    room: () => room,
    isFull: () => isFull,
  };
}
