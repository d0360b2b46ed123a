/**
 * Everything recorded under a request as one JSON document, for people who look for a cause and cannot reach the database.
 *
 * 1. Nothing goes in but through the redactor (see bundle-section.ts).
 * 2. Each section has a size of its own, 9 MiB together; what finds no room is told in `leftOut`.
 */
import { isJsonObject } from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";
import type { GraphqlContext } from "../graphql/context.ts";
import { findRequest } from "../requests/find-request.ts";
import { type BundleSection, createBundleSection, type LeftOut } from "./bundle-section.ts";
import { bundleStep, byWeight } from "./bundle-step.ts";
import { bundleTimeline } from "./bundle-timeline.ts";
import { bundleTools } from "./bundle-tools.ts";

const MIB = 1_048_576;
/** Versions whose steps are read, newest first. */
const MAX_VERSIONS = 20;

/** The document. Fields of a section are as the store holds them. */
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
  /** Empty when everything recorded is here. */
  leftOut: LeftOut[];
}

/** @throws {BadInputError | RequestNotFoundError} */
export async function debugBundle(context: GraphqlContext, requestId: string): Promise<DebugBundle> {
  const { store, reads, nowMs } = context;
  const request = await findRequest(context, requestId);
  const [plans, modelCalls, catalogue] = await Promise.all([
    reads.plansOf(request),
    reads.modelCalls(request._id),
    store.toolCatalogue(),
  ]);
  const leftOut: LeftOut[] = [];
  const section = (sizeMib: number) => createBundleSection(sizeMib * MIB, leftOut);
  const { tenant: _tenant, writeId: _writeId, ...recorded } = request;
  const bundledRequest = section(1).keep("request", recorded);
  const { bundled, steps } = await bundlePlans(context, plans, section(4));
  return {
    formatVersion: 1,
    requestId: request._id,
    generatedAt: new Date(nowMs).toISOString(),
    request: bundledRequest ?? null,
    plans: bundled,
    modelCalls: section(2).keepMany("modelCalls", modelCalls.map(withoutOwner), newestFirst),
    tools: section(1).keepMany("tools", bundleTools(plans, catalogue)),
    timeline: section(1).keepMany(
      "timeline",
      bundleTimeline({ request, plans, steps, modelCalls }),
      (a, b) => b.at.getTime() - a.at.getTime(),
    ),
    leftOut,
  };
}

async function bundlePlans(
  { reads }: GraphqlContext,
  plans: readonly PlanDocument[],
  section: BundleSection,
): Promise<{ bundled: unknown[]; steps: StepDocument[] }> {
  const heads = plans.map((plan) => section.keep("plans", headOf(plan)));
  const bundled: unknown[] = [];
  const all: StepDocument[] = [];
  // Two reads, however many versions there are: the newest one first, which alone may leave no room for what came before it.
  for (const versions of [plans.slice(0, 1), plans.slice(1, MAX_VERSIONS)]) {
    if (section.isFull()) break;
    const read = await Promise.all(versions.map((plan) => reads.steps(plan._id)));
    all.push(...read.flat());
    for (const [index, plan] of versions.entries()) bundle(plan, read[index] ?? []);
  }
  for (const plan of plans.slice(bundled.length)) bundle(plan, null);
  return { bundled, steps: all };

  /** Adds a version. @param steps - null where they were not read */
  function bundle(plan: PlanDocument, steps: StepDocument[] | null): void {
    const where = `plans.v${plan.version}`;
    const head = heads[bundled.length];
    if (!steps) section.leaveOut(`${where}.steps`, plan.plan?.steps.length ?? 0, "not read");
    bundled.push({
      ...(isJsonObject(head) ? head : { _id: plan._id }),
      plan: section.keep(`${where}.plan`, plan.plan) ?? null,
      steps: section.keepMany(`${where}.steps`, (steps ?? []).map(bundleStep), byWeight),
      outputs: section.keep(`${where}.outputs`, plan.outputs) ?? null,
      raw: section.keep(`${where}.raw`, plan.raw) ?? null,
    });
  }
}

/** What is not large. */
function headOf(plan: PlanDocument): object {
  const { tenant: _tenant, writeId: _writeId, plan: _plan, raw: _raw, outputs: _outputs, ...head } = plan;
  return head;
}

function withoutOwner<T extends { tenant: string }>({ tenant: _tenant, ...rest }: T): Omit<T, "tenant"> {
  return rest;
}

const newestFirst = (a: { createdAt: Date }, b: { createdAt: Date }) =>
  b.createdAt.getTime() - a.createdAt.getTime();
