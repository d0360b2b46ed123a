import {
  type EndedAttempt,
  type EventOf,
  type FoldedPlan,
  type FoldedUnit,
  type JournalEvent,
  type OutputLocation,
  positionsInResults,
  type StartedAttempt,
  type StepRecord,
  type StoredOutput,
  type TurnRecord,
  turnEvents,
} from "@planwright/engine";
import {
  type HeldJson,
  isForEachStep,
  isForPerson,
  isTerminalStepStatus,
  type JsonObject,
  JsonText,
  LARGE_JSON_BYTES,
  type OutputText,
  type OutputTexts,
  type PlanId,
  parseExactJson,
  valueOfHeld,
  type WaitReason,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import {
  keptError,
  type LargeValue,
  MAX_INLINE_BYTES,
  measureOutput,
  measureValue,
  previewOf,
  readLargeOutput,
  readOutputTexts,
  removeStaleOutputs,
  writeOutput,
} from "../journal/outputs.ts";
import { withValues } from "../journal/unit-reads.ts";
import { createLeaseTable } from "../leases/lease-table.ts";
import {
  createRepeats,
  type Repeat,
  readPlans,
  type UnitToCall,
  versionsOf,
} from "../plans/earlier-calls.ts";
import {
  type EndedPlan,
  endEvent,
  endWrites,
  isForPlanner,
  REQUEST_STATUS,
  requestAfterPlan,
} from "../plans/plan-end.ts";
import { HAS_CONTROLS } from "../plans/plan-needs.ts";
import { LeaseLostError, OutputMissingError } from "../records/errors.ts";
import { FIRST_EPOCH } from "../records/new-documents.ts";
import type { FinishCommand, OutputRef, PlanDocument } from "../records/plan-document.ts";
import { createRemoveHalfAccepted } from "../requests/acceptance.ts";
import { createToolReports } from "../tools/tool-store.ts";
import { createClaims, held, type PlanClaim, updatePlanSummary, withoutSettledControls } from "./claims.ts";

/** Claims plans and writes their events, fenced by the epoch. */
export function createExecutionStore(dependencies: StoreDependencies) {
  const { clock } = dependencies;
  const planLeases = createLeaseTable("plans", dependencies);
  return {
    ...createClaims(dependencies, planLeases),
    planLeases: planLeases as Omit<typeof planLeases, "claim">,
    ...createUnitWrites(dependencies),
    ...createPlanEnds(dependencies),
    ...createApplyControls(dependencies),
    /** Unix milliseconds by MongoDB's clock and the monotonic one: a jump of the local clock changes nothing. */
    now: () => clock.now(),
    ...createToolReports(dependencies),
  };
}

function createApplyControls({ collections, group }: StoreDependencies) {
  /** Removes controls that are in the journal. It may be repeated; the next owner does it after a crash. */
  async function removeSettled(claim: PlanClaim): Promise<void> {
    await group.write({ ...held(claim), expressions: withoutSettledControls(claim) });
  }

  return {
    /**
     * Reads new controls into the journals of plans that are held (`ClaimJournal.onControl`).
     * @throws {StoreUnavailableError}
     */
    async applyControls(claims: readonly PlanClaim[]) {
      if (claims.length === 0) return;
      const byPlan = new Map(claims.map((claim) => [claim.plan._id, claim]));
      const found = await collections.plans
        .find<Pick<PlanDocument, "_id" | "controls">>(
          { _id: { $in: [...byPlan.keys()] }, ...HAS_CONTROLS },
          { projection: { controls: 1 } },
        )
        .toArray();
      const settled: PlanClaim[] = [];
      for (const { _id, controls = [] } of found) {
        const claim = byPlan.get(_id);
        if (!claim) continue;
        const settledSeq = claim.journal.settled();
        if (controls.some(({ id }) => id <= settledSeq)) settled.push(claim);
        claim.journal.take(controls);
      }
      await Promise.all(settled.map(removeSettled));
    },
  };
}

function createUnitWrites(context: StoreDependencies) {
  return {
    /**
     * Writes intents; durable when it returns.
     * @param ends - earlier attempts of the same units whose ends are not written yet. Default: none
     * @throws {LeaseLostError}
     */
    writeIntents: ({ journal }: PlanClaim, intents: readonly Intent[], ends: readonly AttemptEnd[] = []) =>
      journal.append(intentEvents(context, intents, ends)),

    /**
     * Notes intents whose calls may be repeated (class R): they are written with the result, which saves a
     * write. `writeNoted` writes them earlier, for long calls.
     */
    noteIntents: ({ journal }: PlanClaim, intents: readonly Intent[], ends: readonly AttemptEnd[] = []) =>
      journal.note(intentEvents(context, intents, ends)),

    /**
     * Notes results that may be used before they are durable, in their order: later writes for the plan
     * become durable after them or with them. Returns the same as `writeRecords`. Undefined, and nothing is
     * noted, when an output has to be stored separately first.
     * @param onDurable - called when they are durable, before the write that made them so returns
     */
    noteRecords(
      claim: PlanClaim,
      records: readonly StepRecord[],
      ends: readonly AttemptEnd[],
      onDurable?: () => void,
    ) {
      const noted = recordEventsNow(claim, { records, ends });
      if (noted) claim.journal.note(noted.events, onDurable);
      return noted?.sizes;
    },

    /** Writes noted intents and results. Durable when it returns. @throws {LeaseLostError} */
    writeNoted: ({ journal }: PlanClaim) => journal.append([]),

    /**
     * Writes the new states of units; durable when it returns. Outputs over 32 KiB, and those that MongoDB
     * would change, are stored separately first. Returns the sizes of outputs in bytes, by key:
     * `readStoredOutputs` reads them. @throws {LeaseLostError}
     */
    async writeRecords(claim: PlanClaim, records: readonly StepRecord[], ends: readonly AttemptEnd[]) {
      const recorded = recordEvents(context, claim, { records, ends });
      // No `await` for events that are there already: it would let an intent of the same turn come before
      // them.
      const { events, sizes } = recorded instanceof Promise ? await recorded : recorded;
      await claim.journal.append(events);
      await updatePlanSummary(context, claim, records);
      return sizes;
    },

    /**
     * Outputs of completed units of the plan, in the order of the keys.
     * @throws {OutputMissingError | StoreUnavailableError}
     */
    readStoredOutputs: (claim: PlanClaim, keys: readonly string[]): Promise<StoredOutput[]> =>
      readStoredOutputs(context, claim, keys),

    /**
     * Reads what the earlier versions of the plan have called, to compare the calls of this one with: see
     * `createRepeats`. Undefined for a plan without earlier versions.
     * @throws {StoreUnavailableError}
     */
    async readRepeats({ plan, journal }: PlanClaim): Promise<((unit: UnitToCall) => Repeat) | undefined> {
      const state = journal.request();
      if (state.plans.size < 2) return undefined;
      const versions = versionsOf(await readPlans(context.collections, plan), state);
      const [now, ...earlier] = versions.filter(({ folded }) => folded.version <= plan.version);
      return now?._id === plan._id && earlier.length > 0 ? createRepeats(now, earlier) : undefined;
    },
  };
}

/**
 * Outputs of completed units of a claimed plan, as they were written, in the order of the keys.
 * @throws {OutputMissingError}
 */
async function readStoredOutputs(
  { collections, unitReads }: StoreDependencies,
  { plan, journal }: PlanClaim,
  keys: readonly string[],
): Promise<StoredOutput[]> {
  const { tenant, requestId } = plan;
  const lists = new Set<string>(plan.plan.steps.filter(isForEachStep).map(({ id }) => id));
  const wanted = new Set(keys);
  const isItemOf = (unit: FoldedUnit): boolean => unit.item !== undefined && wanted.has(unit.stepId);
  const ofWanted = [...journal.units()].filter((unit) => wanted.has(unit.key) || isItemOf(unit));
  const units = ofWanted.filter(({ status }) => status === "COMPLETED");
  const read = await withValues(
    unitReads.log,
    units.map((unit) => ({ requestId, unit })),
    { output: true },
  );
  // For items of a wanted list only the texts that tools wrote are needed.
  const refs = read.flatMap(({ key, outputRef }) =>
    outputRef && (wanted.has(key) || outputRef.isOwnText) ? [outputRef] : [],
  );
  // A text of the tool is needed as a string too, so the output is held as the same one.
  const isHeldAsBytes = ({ sizeBytes, isOwnText }: OutputRef): boolean =>
    sizeBytes > LARGE_JSON_BYTES && !isOwnText;
  const texts = await readOutputTexts(
    collections,
    tenant,
    refs.filter((ref) => !isHeldAsBytes(ref)),
  );
  const large = new Map<string, JsonText>();
  for (const ref of refs.filter(isHeldAsBytes))
    large.set(ref.id, await readLargeOutput(collections, tenant, ref));
  const byKey = new Map(read.map((unit) => [unit.key, unit]));
  return keys.map((key): StoredOutput => {
    const unit = byKey.get(key);
    if (!unit) throw new OutputMissingError({ id: `${plan._id}/${key}` });
    const written = lists.has(key) ? textsOfItems(key) : textOf(unit, texts);
    const output = large.get(unit.outputRef?.id ?? "") ?? valueOf(unit, texts);
    return { key, output, ...(written !== undefined && { texts: written }) };
  });

  /** The JSON texts that tools wrote for the items of a list; undefined when there are none. */
  function textsOfItems(stepId: string): OutputTexts | undefined {
    const found: OutputTexts = [];
    const positions = positionsInResults(
      ofWanted.filter((unit) => unit.stepId === stepId && unit.item !== undefined),
    );
    for (const unit of read) {
      const position = unit.stepId === stepId ? positions.get(unit.item ?? -1) : undefined;
      const text = position === undefined ? undefined : textOf(unit, texts);
      if (position !== undefined && text !== undefined) found[position] = text;
    }
    return found.length > 0 ? found : undefined;
  }
}

type Written = Pick<FoldedUnit, "output" | "outputRef" | "outputText">;

function valueOf({ output = null, outputRef }: Written, texts: ReadonlyMap<string, string>): HeldJson {
  const text = outputRef && texts.get(outputRef.id);
  if (!outputRef || text === undefined) return output;
  const { sizeBytes } = outputRef;
  return sizeBytes > LARGE_JSON_BYTES ? new JsonText(text, sizeBytes) : parseExactJson(text);
}

function textOf(
  { outputRef, outputText }: Written,
  texts: ReadonlyMap<string, string>,
): OutputText | undefined {
  return outputRef?.isOwnText ? texts.get(outputRef.id) : outputText;
}

type LaggingRequest = { _id: string; planId: PlanId } & Pick<FinishCommand, "status" | "error"> &
  Pick<PlanDocument, "followUp" | "cancelRequestedAt">;

/** When a request is EXECUTING this long after its plan ended, its executor died between the two writes. */
const RECONCILE_AFTER_MS = 15_000;

function createPlanEnds(context: StoreDependencies) {
  const { collections, group, clock } = context;
  const { requests } = collections;
  const removeHalfAccepted = createRemoveHalfAccepted(collections);

  /**
   * Removes outputs that no unit refers to. Done before the end is written, so that a failure here is
   * repeated. A plan with a single owner has no such outputs.
   * @param last - events of units in the last entry
   */
  async function removeLeftovers(claim: PlanClaim, last: readonly JournalEvent[]): Promise<void> {
    if (claim.epoch === FIRST_EPOCH) return;
    const { _id: planId, tenant } = claim.plan;
    const completed = [...claim.journal.units()].flatMap(({ status, outputRef }) =>
      status === "COMPLETED" && outputRef ? [outputRef] : [],
    );
    const inLastEntry = last.flatMap((event) =>
      event.type === "step.changed" && event.outputRef ? [event.outputRef] : [],
    );
    await removeStaleOutputs(collections, { tenant, planId, epoch: claim.epoch }, [
      ...completed,
      ...inLastEntry,
    ]);
  }

  return {
    /**
     * Releases the plan: WAITING or PAUSED until `dueAtMs` (null: until a control), or QUEUED to hand it
     * over.
     * @throws {LeaseLostError}
     */
    async releasePlan(
      claim: PlanClaim,
      to: { status: "WAITING" | "PAUSED"; reason: WaitReason; dueAtMs: number | null } | { status: "QUEUED" },
    ) {
      // Controls that come from now on are left to the next owner.
      claim.journal.close();
      const event = releaseEvent(to);
      const { status, waitReason, dueAt } = event;
      // Appends the noted events too: after the release this owner cannot append them.
      await claim.journal.append([event]);
      const withoutSettled = withoutSettledControls(claim);
      // The plan also becomes due by a control that this owner has not applied, and by its deadline, whose time
      // does not pass while only a person can continue the plan.
      const hasNewControl = { $gt: [{ $size: withoutSettled["controls"] }, 0] };
      const isPersonAwaited = waitReason !== null && isForPerson(waitReason);
      const orDeadline = isPersonAwaited ? dueAt : { $min: [dueAt, "$deadlineAt"] };
      const whenDue = { $cond: [hasNewControl, "$$NOW", orDeadline] };
      // A plan that was resumed before its release waits only for a worker.
      const orQueued = (queued: string | null, otherwise: unknown) => {
        if (status === "QUEUED") return queued;
        const isResumed = { $eq: ["$pauseRequestedAt", null] };
        return status === "PAUSED" ? { $cond: [isResumed, queued, otherwise] } : otherwise;
      };
      const expressions = {
        // The plan was released normally: it does not kill executors.
        claims: 0,
        lostAtProgress: 0,
        ...withoutSettled,
        status: orQueued("QUEUED", status),
        dueAt: orQueued("$$NOW", whenDue),
        waitReason: orQueued(null, waitReason),
        lease: null,
        updatedAt: "$$NOW",
      };
      requireHeld(claim, await group.write({ ...held(claim), expressions }));
    },

    /**
     * The terminal write of plan and request. The last records become durable before it or with it, as
     * `writeRecords` writes them. Returns whether the request waits for a planner now, to replan or to write
     * an answer from the results. @throws {LeaseLostError}
     */
    async finishPlan(claim: PlanClaim, finish: FinishCommand, last: UnitResults = { records: [], ends: [] }) {
      const { events } = await recordEvents(context, claim, last);
      await removeLeftovers(claim, events);
      const end = endEvent(finish);
      const { plan, journal } = claim;
      // Controls that come from now on are settled behind the end.
      journal.close();
      const endedAs = (folded: FoldedPlan | undefined): EndedPlan => {
        return { end, folded, settledSeq: journal.settled(folded?.controlSeq) };
      };
      await journal.appendLast([...events, end], (_, { plans }) =>
        endWrites(plan, endedAs(plans.get(plan._id))),
      );
      return { isForPlanner: isForPlanner(plan, endedAs(journal.plan())) };
    },

    /**
     * Corrects requests whose executor died after the end of the plan and before it updated them. Removes
     * requests whose acceptance was interrupted before their plan was stored (no client got an answer).
     * Returns how many requests were corrected. @throws {StoreUnavailableError}
     */
    async reconcileRequests() {
      await removeHalfAccepted(clock.now());
      const stale = await requests
        .aggregate<LaggingRequest>([
          { $match: { status: "EXECUTING", updatedAt: { $lt: new Date(clock.now() - RECONCILE_AFTER_MS) } } },
          { $sort: { updatedAt: 1 } },
          { $limit: 1_000 },
          { $lookup: { from: "plans", localField: "planId", foreignField: "_id", as: "plan" } },
          { $unwind: "$plan" },
          { $match: { "plan.status": { $in: Object.keys(REQUEST_STATUS) } } },
          {
            $project: {
              planId: 1,
              status: "$plan.status",
              error: "$plan.error",
              followUp: "$plan.followUp",
              cancelRequestedAt: "$plan.cancelRequestedAt",
            },
          },
        ])
        .toArray();
      const now = new Date(clock.now());
      const corrected = await Promise.all(
        stale.map(({ _id, planId, ...end }) =>
          group.write({
            collection: "requests",
            id: _id,
            condition: { planId, status: "EXECUTING" },
            set: requestAfterPlan(end, end, now),
          }),
        ),
      );
      return corrected.filter(Boolean).length;
    },
  };
}

function releaseEvent(to: Parameters<ExecutionStore["releasePlan"]>[1]): EventOf<"lease.released"> {
  const { status } = to;
  if (status === "QUEUED") return { type: "lease.released", status, waitReason: null, dueAt: null };
  const dueAt = to.dueAtMs === null ? null : new Date(to.dueAtMs);
  return { type: "lease.released", status, waitReason: to.reason, dueAt };
}

/** @throws {LeaseLostError} when a write under a claim was not done: another executor holds the plan by now */
function requireHeld({ plan, epoch }: PlanClaim, isDone: boolean): void {
  if (!isDone) throw new LeaseLostError({ id: plan._id, epoch });
}

/** The operations that the executor needs. Writes of all plans in the process share bulks. */
export type ExecutionStore = ReturnType<typeof createExecutionStore>;

/* The events of an executor. */

/** An attempt's durable intent (R2). */
export interface Intent extends Omit<StartedAttempt, "arguments" | "at"> {
  /** Size and beginning of large arguments, which are not in `call`. Default: those of the call. */
  large?: { sizeBytes: number; text: string } | undefined;
}

/** How an attempt of one unit ended; the unit's new state is separate. */
export interface AttemptEnd extends Omit<EndedAttempt, "units" | "at"> {
  key: string;
  endedAtMs: number;
}

/** A unit's new state. When its `arguments` are to be approved, it has their hashes. */
export type UnitRecord = StepRecord & {
  /** Hash of plan, step, arguments and tool: what an operator approves. */
  approvalHash?: string | undefined;
  argsHash?: string | undefined;
};

/** New states of units, and the ends of the attempts that caused them. */
export interface UnitResults {
  records: readonly UnitRecord[];
  ends: readonly AttemptEnd[];
}

/** The events of calls that are about to be sent, after the ends of earlier calls of the same units. */
function intentEvents(
  context: StoreDependencies,
  intents: readonly Intent[],
  ends: readonly AttemptEnd[],
): JournalEvent[] {
  const at = new Date(context.clock.now());
  const started = intents.map(({ call, large, ...intent }): StartedAttempt => {
    const kept = large ? previewOf(large) : keptArguments(call.arguments);
    return { call, ...intent, arguments: kept, at };
  });
  return turnEvents({ started, ended: attemptsOf(ends), records: [] });
}

interface RecordEvents {
  events: JournalEvent[];
  sizes: Map<string, number>;
}

/**
 * The events of new states of units. They are returned at once, unless outputs that are too large for an
 * entry have to be stored separately first. So an intent of the same turn comes after the states that it
 * follows from.
 */
function recordEvents(
  context: StoreDependencies,
  claim: PlanClaim,
  results: UnitResults,
): RecordEvents | Promise<RecordEvents> {
  const { sizes, places, large } = measure(results.records);
  const toRecordEvents = (): RecordEvents => ({ events: toEvents(claim, results, places), sizes });
  if (large.length === 0) return toRecordEvents();
  const written = large.map(async ({ key, output, outputText }) => {
    const ref = await writeSeparately(context, claim, key, output);
    const isOwnText = typeof outputText === "string" ? ({ isOwnText: true } as const) : {};
    places.set(key, { ...ref, ...isOwnText });
  });
  return Promise.all(written).then(toRecordEvents);
}

/** The same; undefined when an output has to be stored separately first. Pure. */
function recordEventsNow(claim: PlanClaim, results: UnitResults): RecordEvents | undefined {
  const { sizes, places, large } = measure(results.records);
  return large.length > 0 ? undefined : { events: toEvents(claim, results, places), sizes };
}

interface LargeOutput extends Pick<UnitRecord, "key" | "outputText"> {
  output: LargeValue;
}

function measure(records: readonly UnitRecord[]) {
  const sizes = new Map<string, number>();
  const places = new Map<string, OutputLocation>();
  const large: LargeOutput[] = [];
  for (const { key, status, output, outputText } of records) {
    if (output === undefined) continue;
    const isText = output instanceof JsonText && output.sizeBytes > MAX_INLINE_BYTES;
    const measured = isText ? largeValueOf(output) : measureOutput(valueOfHeld(output), outputText);
    if (status === "COMPLETED") sizes.set(key, measured.sizeBytes);
    if (measured.fits) places.set(key, measured.sizeBytes);
    else large.push({ key, outputText, output: measured });
  }
  return { sizes, places, large };
}

/** The text is stored as it is: that of the tool, if it is kept. */
function largeValueOf({ content, sizeBytes }: JsonText): LargeValue {
  return { fits: false, text: content, sizeBytes };
}

function toEvents(
  { journal }: PlanClaim,
  { records, ends }: UnitResults,
  places: ReadonlyMap<string, OutputLocation>,
): JournalEvent[] {
  const turn = { started: [], ended: attemptsOf(ends), records: records.map(toTurnRecord) };
  const isEnded = (key: string): boolean => isTerminalStepStatus(journal.unit(key)?.status ?? "PENDING");
  return turnEvents(turn, places, isEnded).map(withSizeForText);
}

/** The text of an output that is stored separately may still be in the entry: the size makes readers look. */
function withSizeForText(event: JournalEvent): JournalEvent {
  const isInEntry = event.type === "step.changed" && event.outputRef && event.outputText !== undefined;
  return isInEntry ? { ...event, outputBytes: 0 } : event;
}

function writeSeparately(
  context: StoreDependencies,
  { plan, epoch }: PlanClaim,
  key: string,
  output: LargeValue,
): Promise<OutputRef> {
  return writeOutput(context, { tenant: plan.tenant, planId: plan._id, key, epoch }, output);
}

function toTurnRecord({
  arguments: args,
  largeArguments: large,
  argsHash,
  approvalHash,
  error,
  ...record
}: UnitRecord): TurnRecord {
  const kept = large ? previewOf({ ...large, text: large.beginning }) : args && keptArguments(args);
  return {
    ...record,
    ...(error && { error: keptError(error) }),
    // What an operator sees of a unit that waits for approval.
    ...(kept && {
      toApprove: { arguments: kept, argsHash: argsHash ?? "", approvalHash: approvalHash ?? "" },
    }),
  };
}

/** Ends of attempts, one for each attempt: one call may have served several units. */
function attemptsOf(ends: readonly AttemptEnd[]): EndedAttempt[] {
  const byAttempt = new Map<string, EndedAttempt>();
  for (const { key, endedAtMs, error, ...end } of ends) {
    const known = byAttempt.get(end.attemptId);
    if (known) known.units.push(key);
    else {
      const kept = { ...end, error: error && keptError(error), at: new Date(endedAtMs) };
      byAttempt.set(end.attemptId, { units: [key], ...kept });
    }
  }
  return [...byAttempt.values()];
}

/** Arguments as they are stored in an entry: complete, or the size and a preview of large ones. */
function keptArguments(args: JsonObject): StartedAttempt["arguments"] {
  const measured = measureValue(args);
  return measured.fits ? { sizeBytes: measured.sizeBytes, value: args } : previewOf(measured);
}
