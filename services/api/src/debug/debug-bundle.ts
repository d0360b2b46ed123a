/**
 * All records of a request as one JSON document, for people who look for a cause without access to the
 * database.
 *
 * 1. Every value passes the redactor.
 * 2. Each section has its own size limit; together they are 7 eighths of an answer, and at most 7 MiB. Parts
 *    that do not fit are listed in `leftOut`, and are not read if their size is known before.
 * 3. An answer builds each bundle once, and counts it before: bundles that do not fit into the answer together
 *    are refused before they are read.
 * 4. It is built in slices: other answers are sent in between.
 */
import type { StepRun } from "@planwright/engine";
import {
  changesSince,
  findPinnedTool,
  isJsonObject,
  type RequestId,
  type ToolDescriptor,
  type ToolPin,
  toolDigest,
} from "@planwright/plan";
import { redactInSteps } from "@planwright/runtime";
import type { LiveWorkers, ModelCallHead, PlanGraph, PlanHead } from "@planwright/store";
import { rememberJsonBytes, runInSlices } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { bodyBytes, type Reads } from "../operation/reads.ts";
import { planTimes } from "../plans/plan-times.ts";
import { attemptsSeen } from "../plans/step-views.ts";
import { findRequest } from "../requests/find-request.ts";
import { bundleStep, byWeight } from "./bundle-step.ts";
import { bundleTimeline } from "./bundle-timeline.ts";

/** Versions whose steps are read, newest first. */
const MAX_VERSIONS = 20;
/** Largest answer that a bundle is made for, in bytes: the console and colleagues read the file as a whole. */
const MAX_BYTES = 8_388_608;

/** The document. Fields of a section are named as in the store. */
export interface DebugBundle {
  formatVersion: 1;
  requestId: string;
  generatedAt: string;
  request: unknown;
  /** Newest version first, each with its steps. */
  plans: unknown[];
  /** Oldest first. */
  modelCalls: unknown[];
  tools: unknown[];
  /** Oldest first. */
  timeline: unknown[];
  /** Empty when nothing is missing. */
  leftOut: LeftOut[];
}

/** @throws {BadInputError | RequestNotFoundError | AnswerTooLargeError | OverloadedError} */
export async function debugBundle(context: GraphqlContext, requestId: string): Promise<DebugBundle> {
  const { _id } = await findRequest(context, requestId);
  return context.reads.once(`bundle ${_id}`, () => makeBundle(context, _id));
}

async function makeBundle(context: GraphqlContext, requestId: RequestId): Promise<DebugBundle> {
  const { store, reads, nowMs, bytes } = context;
  const request = await findRequest(context, requestId);
  const [plans, modelCalls] = await Promise.all([reads.plansOf(request), reads.modelCalls(request._id)]);
  const maxBytes = Math.min(MAX_BYTES, bytes.limits.maxBytes);
  await bytes.making(estimatedBytes(plans, modelCalls, maxBytes));
  const catalogue = await reads.once("catalogue", () => store.toolCatalogue());
  const leftOut: LeftOut[] = [];
  const section = (sixteenths: number) => createBundleSection((maxBytes * sixteenths) / 16, leftOut);
  const inSlices = <T>(steps: Generator<void, T>) => runInSlices(bytes.limits.pace, steps);
  const { tenant: _tenant, writeId: _writeId, ...recorded } = request;
  const bundledRequest = await inSlices(section(2).keep("request", recorded));
  const { bundled, steps, graphs } = await bundlePlans(context, plans, section(6), inSlices);
  const tools = await inSlices(bundleTools(graphs, catalogue));
  return {
    formatVersion: 1,
    requestId: request._id,
    generatedAt: new Date(nowMs).toISOString(),
    request: bundledRequest ?? null,
    plans: bundled,
    modelCalls: await bundleModelCalls(reads, modelCalls, section(3), inSlices),
    tools: await inSlices(section(1).keepMany("tools", tools)),
    timeline: await inSlices(
      section(2).keepMany(
        "timeline",
        bundleTimeline({ request, plans, steps, modelCalls }),
        (a, b) => b.at.getTime() - a.at.getTime(),
      ),
    ),
    leftOut,
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

/** A version of the plan with the parts that fit. */
interface ReadVersion {
  plan: PlanHead;
  graph: PlanGraph | null;
  steps: StepRun[];
}

async function bundlePlans(
  { reads, liveWorkers, nowMs }: Pick<GraphqlContext, "reads" | "liveWorkers" | "nowMs">,
  plans: readonly PlanHead[],
  section: BundleSection,
  inSlices: InSlices,
): Promise<{ bundled: unknown[]; steps: StepRun[]; graphs: (PlanHead & PlanGraph)[] }> {
  const live = await liveWorkers();
  const heads: unknown[] = [];
  for (const plan of plans) {
    const times = await planTimes(plan, reads, nowMs);
    heads.push(await inSlices(section.keep("plans", { ...headOf(plan), ...times })));
  }
  const bundled: unknown[] = [];
  const all: ReadVersion[] = [];
  // Two rounds of reads: first the newest version, which may fill the section alone, then all older versions
  // together.
  for (const versions of [plans.slice(0, 1), plans.slice(1, MAX_VERSIONS)]) {
    if (section.isFull()) break;
    const recorded = await Promise.all(versions.map((plan) => reads.steps(plan._id)));
    const claim = roomOf(section);
    const reading = versions.map((plan, index) => bundle(plan, recorded[index] ?? [], claim));
    for (const { version, document } of await Promise.all(reading)) {
      all.push(version);
      bundled.push(await inSlices(document()));
    }
  }
  for (const [index, plan] of plans.entries()) {
    if (index < bundled.length) continue;
    section.leaveOut(`plans.v${plan.version}.steps`, {
      count: plan.steps,
      sizeBytes: null,
      reason: "not read",
    });
    bundled.push(isJsonObject(heads[index]) ? heads[index] : { _id: plan._id });
  }
  return {
    bundled,
    steps: all.flatMap(({ steps }) => steps),
    graphs: all.flatMap(({ plan, graph }) => (graph ? [{ ...plan, ...graph }] : [])),
  };

  /** Reads a version. The document is built later, so that versions use the space in their order. */
  async function bundle(plan: PlanHead, units: StepRun[], claim: ClaimRoom) {
    const where = `plans.v${plan.version}`;
    const part = <T>(name: string, sizeBytes: number, read: () => Promise<T>): Promise<T | null> | null => {
      if (claim(sizeBytes)) return read();
      section.leaveOut(`${where}.${name}`, { count: 1, sizeBytes, reason: "no room" });
      return null;
    };
    const chosen = new Set(units.toSorted(byWeight).filter((unit) => claim(bytesOf(unit))));
    const missing = units.filter((unit) => !chosen.has(unit));
    section.leaveOut(`${where}.steps`, {
      count: missing.length,
      sizeBytes: missing.reduce((sum, unit) => sum + bytesOf(unit), 0),
      reason: "no room",
    });
    const [graph, results, texts, steps] = await Promise.all([
      part("plan", plan.graphBytes, () => reads.graph(plan._id)),
      part("outputs", plan.resultBytes, () => reads.results(plan._id)),
      part("raw", plan.textBytes, () => reads.texts(plan._id)),
      Promise.all(units.filter((unit) => chosen.has(unit)).map((unit) => readStep(reads, unit, live))),
    ]);
    const version: ReadVersion = { plan, graph, steps };
    const document = function* (): Generator<void, object> {
      const head = heads[bundled.length];
      return {
        ...(isJsonObject(head) ? head : { _id: plan._id }),
        plan: (yield* section.keep(`${where}.plan`, graph?.plan)) ?? null,
        steps: yield* section.keepMany(`${where}.steps`, steps, byWeight, bundleStep),
        outputs: (yield* section.keep(`${where}.outputs`, results?.outputs)) ?? null,
        raw: (yield* section.keep(`${where}.raw`, texts?.raw)) ?? null,
        diagnostics: (yield* section.keep(`${where}.diagnostics`, texts?.diagnostics)) ?? null,
      };
    };
    return { version, document };
  }
}

async function bundleModelCalls(
  reads: Reads,
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
    calls
      .filter((call) => chosen.has(call))
      .map(async (call) => {
        const { tenant: _tenant, textBytes: _textBytes, ...head } = call;
        return { ...head, ...(await reads.modelCallTexts(call)) };
      }),
  );
  return inSlices(section.keepMany("modelCalls", read, newestFirst));
}

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

/** The step with its values; an output that is stored separately is not read. */
async function readStep(reads: Reads, step: StepRun, live: LiveWorkers): Promise<StepRun> {
  const [body, output] = await Promise.all([
    reads.withBody(step),
    step.outputRef ? null : reads.wholeOutput(step),
  ]);
  return { ...body, attempts: attemptsSeen(body.attempts, live), output };
}

/** Estimated size of a step; an output that is stored separately is not read. */
const bytesOf = (step: StepRun): number => HEAD_BYTES + bodyBytes(step) + (step.outputBytes ?? 0);
const HEAD_BYTES = 640;

/** The recorded fields of a version without its large parts. */
function headOf(plan: PlanHead): object {
  const {
    tenant: _tenant,
    writeId: _writeId,
    graphBytes: _graphBytes,
    textBytes: _textBytes,
    resultBytes: _resultBytes,
    steps: _steps,
    ...head
  } = plan;
  return head;
}

const newestFirst = (a: { createdAt: Date }, b: { createdAt: Date }) =>
  b.createdAt.getTime() - a.createdAt.getTime();

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

/** A part that is missing in a bundle. */
interface LeftOut {
  /** Its position in the bundle, such as "plans.v2.steps". */
  where: string;
  /** Number of missing parts. */
  count: number;
  /** Their size as JSON in UTF-8, in bytes; null if they were not read. */
  sizeBytes: number | null;
  reason: string;
}

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
   * @param show - makes what is kept of a value; default: the value itself
   */
  keepMany<T>(
    where: string,
    values: readonly T[],
    byWeight?: (a: T, b: T) => number,
    show?: (value: T) => unknown,
  ): Generator<void, unknown[]>;
  /** Records parts that are not read. @param what - its sizeBytes is null if the size is not known */
  leaveOut(where: string, what: { count: number; sizeBytes: number | null; reason: string }): void;
  /** Bytes that still fit. */
  room(): number;
  /** True after something did not fit. */
  isFull(): boolean;
}

/** An empty section with a limit in bytes of JSON in UTF-8; what does not fit is added to `leftOut`. */
function createBundleSection(maxBytes: number, leftOut: LeftOut[]): BundleSection {
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
    *keepMany(where, values, byWeight = () => 0, show = (value) => value) {
      const order = [...values.entries()].toSorted(([, a], [, b]) => byWeight(a, b));
      const kept: { index: number; value: unknown }[] = [];
      for (const [index, value] of order) {
        kept.push({ index, value: yield* keep(where, show(value)) });
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
