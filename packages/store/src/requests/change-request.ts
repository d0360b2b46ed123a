import { createHash } from "node:crypto";
import {
  type FoldedRequest,
  type JournalEntry,
  type JournalEvent,
  JournalInvalidError,
  outlineOf,
  stepRuns,
} from "@planwright/engine";
import type { Diagnostic, RequestId } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { HeadWrite } from "../journal/pending-write.ts";
import { type NextEntry, nextEntry } from "../journal/transact.ts";
import type { ChangeRefusal } from "../plans/carry-over.ts";
import { type NextVersionTurn, NOTHING_PARKED } from "../plans/version-turn.ts";
import { IdempotencyKeyReusedError, RequestLagsError } from "../records/errors.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { type Idempotency, KEY_LIFE_MS } from "./acceptance.ts";

/**
 * How often a change is decided again although no entry came meanwhile, and the wait before that, in milliseconds:
 * a document of the request has changed, or its owner has not written it yet.
 */
const MAX_LAGS = 10;
const LAG_MS = 200;
/** How often an answer is decided again because an entry came while it was decided. */
const MAX_MOVES = 5;

/**
 * A request and the state folded from its journal, when a change is decided. The documents were read after the
 * journal: what they know of later entries makes the change be decided again, because its seq is taken.
 */
export interface RequestNow {
  request: RequestDocument;
  /** The current version of its plan; null while there is none. */
  plan: PlanDocument | null;
  state: FoldedRequest;
}

/** An entry to append, with the writes to documents that follow it. */
interface ChangeEntry<Changed> {
  events: JournalEvent[];
  by: string;
  /** The version that the entry is about. Default: the current one. */
  planId?: PlanDocument["_id"];
  following: readonly HeadWrite[];
  /** The answer once the entry is appended. */
  changed: Changed;
}

/** An entry to append, or the answer when nothing is to be changed. */
export type ChangeDecision<Answer, Changed> = ChangeEntry<Changed> | Answer;

/** A change that a client asks for. */
interface RequestChange<Answer, Changed> {
  tenant: string;
  requestId: RequestId;
  /** Such as "rerun": keys of different operations are separate. */
  operation: string;
  /** Default: a repeated call changes the request again. */
  idempotency?: Idempotency | undefined;
  /** Called again when another entry was appended first. */
  decide: (now: RequestNow) => ChangeDecision<Answer, Changed> | Promise<ChangeDecision<Answer, Changed>>;
}

/**
 * Changes a request by an entry of its journal and the writes that follow from it, in one transaction. The entry
 * follows from all entries before it: of simultaneous changes one is first, and the others are decided again after
 * it. The idempotency key is part of the entry. Undefined for an unknown request, for one that is being removed,
 * and for another tenant's.
 * @throws {IdempotencyKeyReusedError} when the key made another change
 * @throws {RequestLagsError} when the request's document still lags after all tries
 */
export async function changeRequest<Answer, Changed>(
  context: StoreDependencies,
  change: RequestChange<Answer, Changed>,
): Promise<Answer | Changed | Repeated | undefined> {
  try {
    return await decideAndWrite(context, change);
  } catch (error) {
    if (!(error instanceof JournalInvalidError)) throw error;
    // A removal has begun since the request was read: its entries go one after the other.
    if (await context.collections.requests.findOne({ _id: change.requestId })) throw error;
    return undefined;
  }
}

async function decideAndWrite<Answer, Changed>(
  context: StoreDependencies,
  { tenant, requestId, operation, idempotency, decide }: RequestChange<Answer, Changed>,
): Promise<Answer | Changed | Repeated | undefined> {
  const { collections, unitReads, transact } = context;
  const key = idempotency && entryKeyOf(operation, idempotency);
  const repeated = async (): Promise<Repeated | undefined> => key && findRepeated(context, tenant, key);

  const hasMoved = async (from: FoldedRequest): Promise<boolean> =>
    (await unitReads.ofRequest(requestId)).seq !== from.seq;

  for (let lags = 0, seq = 0, moves = 0; ; ) {
    const earlier = await repeated();
    if (earlier) return earlier;
    const state = await unitReads.ofRequest(requestId);
    const request = await collections.requests.findOne({ _id: requestId, tenant });
    if (!request || state.isRemoved) return undefined;
    const plan = await collections.plans.findOne({ _id: request.planId, tenant });
    const decided = await decide({ request, plan, state });
    if (!isEntry(decided)) {
      // Another call with the same key may have appended this change meanwhile.
      const same = await repeated();
      // The documents may follow from a later entry. The owner of a busy plan appends all the time.
      if (same || moves === MAX_MOVES || !(await hasMoved(state))) return same ?? decided;
      moves += 1;
      continue;
    }
    const { events, by, following, planId: _id = request.planId } = decided;
    const content = { by: { kind: "api" as const, id: by }, events, ...(key && { idempotency: key }) };
    let next: NextEntry;
    try {
      next = nextEntry({ _id, requestId, tenant }, state, content);
    } catch (error) {
      if (error instanceof JournalInvalidError && (await hasMoved(state))) continue;
      throw error;
    }
    const { type } = await transact({ entry: next.entry, following: () => following });
    if (type === "appended") return decided.changed;
    lags = state.seq > seq ? 0 : lags + 1;
    seq = state.seq;
    if (lags > MAX_LAGS) throw new RequestLagsError({ requestId });
    if (lags > 1) await context.sleep(LAG_MS);
  }
}

function isEntry<Changed>(decided: unknown): decided is ChangeEntry<Changed> {
  return typeof decided === "object" && decided !== null && "events" in decided;
}

/** Keys of the units of a plan that are in doubt, in plan order: another version might repeat their effects. Pure. */
export function keysInDoubt(plan: PlanDocument, { plans }: FoldedRequest): string[] {
  const units = stepRuns({ outline: outlineOf(plan), plan: plans.get(plan._id) });
  return units.filter(({ status }) => status === "IN_DOUBT").map(({ key }) => key);
}

/** True when the caller has read another version than the current one; undefined: it did not say. */
export function isOtherVersion(
  { version }: Pick<RequestDocument, "version">,
  seen: number | undefined,
): boolean {
  return seen !== undefined && seen !== version;
}

/*
 * Idempotency keys of changes (for each tenant and operation, for 24 h). The key is stored in the entry of
 * the change, so neither is stored without the other.
 */

type EntryKey = NonNullable<JournalEntry["idempotency"]>;

/** The key as it is stored in an entry. Pure. */
export function entryKeyOf(operation: string, { key, payloadHash }: Idempotency): EntryKey {
  return { key: `${operation}/${createHash("sha256").update(key).digest("hex")}`, payloadHash };
}

/**
 * The request that this key has changed before, as it is now; undefined when the key is new.
 * @throws {IdempotencyKeyReusedError} when the key was used for another change
 */
export async function findRepeated(
  { collections: { journal, requests }, clock }: StoreDependencies,
  tenant: string,
  { key, payloadHash }: EntryKey,
): Promise<Repeated | undefined> {
  const after = new Date(clock.now() - KEY_LIFE_MS);
  const found = await journal.findOne({ tenant, "idempotency.key": key, at: { $gt: after } });
  if (!found) return undefined;
  // The entries of a request name it by its id.
  const requestId = found.requestId as Repeated["request"]["_id"];
  if (found.idempotency?.payloadHash !== payloadHash) throw new IdempotencyKeyReusedError({ requestId });
  const request = await requests.findOne({ _id: requestId, tenant });
  return request ? { type: "repeated", request } : undefined;
}

/**
 * The entry by which a client moves a request to another version of its plan. Pure.
 * @param before - writes to other documents, done before that of the request. Default: none
 */
export function versionEntry<Changed>(
  { document, events, request }: NextVersionTurn,
  by: string,
  changed: Changed,
  before: readonly HeadWrite[] = [],
): ChangeEntry<Changed> {
  return {
    events,
    by,
    planId: document._id,
    following: [{ collection: "plans", insert: document }, ...before, movedTo(request)],
    changed,
  };
}

/** The request's document at its next version. Pure. */
function movedTo({ _id, planId, version, status, autoExecute, updatedAt }: RequestDocument): HeadWrite {
  const noWork = { ...NOTHING_PARKED, "planning.work": null, "planning.wait": null };
  const set = { ...noWork, planId, version, status, autoExecute, updatedAt };
  return { collection: "requests", id: _id, condition: { version: version - 1 }, set };
}

/** The key was used before: nothing was changed. */
export interface Repeated {
  type: "repeated";
  /** The request that the key changed, as it is now. */
  request: RequestDocument;
}

/** Options of all changes that make another version. */
export interface VersionOptions {
  /** The version that the caller has read, from 1: nothing is changed when another one is current. Default: any. */
  fromVersion?: number | undefined;
  /** A change that is sent again under its key changes nothing. Each operation has its own keys. */
  idempotency?: Idempotency | undefined;
  /** Who asks, for the journal. Default "api". */
  by?: string | undefined;
}

/** Options of changes that may call steps again. */
export interface RepeatOptions extends VersionOptions {
  /** Start executing as soon as the version is stored. */
  autoExecute: boolean;
  /** Ids of steps that may be called again although a failed call of them acted or may have acted. Default: none. */
  acceptRepeat?: readonly string[] | undefined;
}

/** Why a change made no version, whatever the change is. */
type NotChanged =
  | Repeated
  /** The current version is not the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan has not ended; a rerun and a replan also need one that was started. */
  | { type: "not ended"; plan: PlanDocument }
  /** Keys of units with unknown effect: another version might repeat that effect. */
  | { type: "in doubt"; keys: string[] }
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** Keys of units whose repeat `acceptRepeat` does not name: a failed call of them acted or may have. */
interface RepeatNotAccepted {
  type: "repeat not accepted";
  keys: string[];
}

/** The current plan can never run. */
interface InvalidPlan {
  type: "invalid";
  request: RequestDocument;
  plan: PlanDocument;
}

/** Result of a rerun. */
export type RerunAnswer =
  | NotChanged
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** A sentence whose planning had failed is PLANNING again: a planner continues. */
  | { type: "planning"; request: RequestDocument }
  | RepeatNotAccepted
  /** Everything completed, and no step was named. */
  | { type: "nothing failed" }
  /** Other arguments were given for a step that has completed, or of which a call acted or may have acted. */
  | ChangeRefusal
  /** With these arguments the plan could not run. Nothing is stored. */
  | { type: "invalid arguments"; plan: PlanDocument; diagnostics: Diagnostic[] }
  | InvalidPlan;

/** A plan that replaced another one. */
export interface AmendedPlan {
  type: "amended";
  request: RequestDocument;
  plan: PlanDocument;
  /** Ids of steps that completed and are carried over. They are never called again. */
  carried: string[];
  /** Ids of completed steps with side effects that are called again: they or their inputs have changed. */
  repeated: string[];
  /** Ids of completed steps with side effects that are not called again. */
  notRepeated: string[];
}

/** Result of an amendment. */
export type AmendAnswer =
  | NotChanged
  | AmendedPlan
  /** Keys of units with a call that acted, or may have acted without an answer: with other arguments it is a second effect. */
  | { type: "may have acted"; keys: string[] }
  | RepeatNotAccepted;

/** Result of a replan that is asked for. */
export type ReplanAnswer =
  | NotChanged
  /** The request is PLANNING: a planner continues. */
  | { type: "replanning"; request: RequestDocument }
  /** Every step completed. */
  | { type: "nothing failed" }
  /** The request has had the maximum number of replans. */
  | { type: "too many"; made: number }
  | InvalidPlan;
