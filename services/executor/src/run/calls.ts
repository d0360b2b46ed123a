/**
 * The calls of one run. Each has its intent, its slot under limits, its approval, and the tool with which the
 * plan was made.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Call,
  type CallToApprove,
  type CarriedUnit,
  callOfUnits,
  effectOfCall,
  isUnansweredLookup,
  isUnreachable,
  type Outcome,
  recordOf,
  type StepError,
  type UnresolvedArguments,
  unitKeysOf,
  withStored,
} from "@planwright/engine";
import {
  isKeyed,
  isRepeatable,
  type JsonObject,
  sha256,
  type ToolDescriptor,
  type WaitReason,
} from "@planwright/plan";
import type { Slot } from "@planwright/queue";
import {
  type Liveness,
  type Logger,
  type RunClock,
  redactJson,
  redactText,
  ThreadEndedError,
} from "@planwright/runtime";
import type { AttemptEnd, EarlierCall, ExecutionStore, PlanClaim, Repeat } from "@planwright/store";
import type { Clearance, ToolClients } from "@planwright/tools";
import { askLookup } from "../ask-lookup.ts";
import type { RunMetrics } from "../metrics.ts";
import { type LargeJson, tooLarge } from "../outputs/large-json.ts";
import { type LargeArguments, lookupArguments, type ResolvedArguments } from "../outputs/large-json-jobs.ts";
import type { PlanOutputs } from "../outputs/output-memory.ts";
import type { OutputRecorder } from "../outputs/output-recorder.ts";
import type { AttemptTrace, PlanTrace } from "../run-traces.ts";
import { type PlanSecrets, presentIn, type SecretValues, withSecrets } from "../secrets.ts";
import type { Approvals } from "./approvals.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { PendingWrites } from "./pending-writes.ts";
import type { PlanLimits } from "./plan-limits.ts";
import type { PlanTools } from "./plan-tools.ts";

/** Dependencies of {@link createRunCalls}. */
interface RunCallsParts extends ClearanceParts, RightParts {
  claim: PlanClaim;
  planTools: PlanTools;
  store: Pick<ExecutionStore, "now" | "readRepeats" | "readStoredOutputs" | "noteRecords" | "writeNoted">;
  tools: Pick<ToolClients, "callTool">;
  signIns: Pick<ToolClients, "needsSignIn" | "onSignedIn"> | undefined;
  secrets: PlanSecrets | undefined;
  limits: PlanLimits | undefined;
  /** Memory for arguments that insert large outputs. */
  heldOutputs: Pick<PlanOutputs, "reserve">;
  largeJson: Pick<LargeJson, "resolve" | "fill" | "lookup" | "found">;
  approvals: Pick<Approvals, "refusalOf">;
  outputs: Pick<OutputRecorder, "note"> | undefined;
  callRecorder: Pick<CallRecorder, "note"> | undefined;
  pending: PendingWrites;
  /** Waits before another call. Resolves at once when the signal aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  clock: RunClock;
  metrics: RunMetrics;
  trace: PlanTrace | undefined;
  /** Called when a write that no call waits for failed. */
  onError: (error: unknown) => void;
  /** Called when a person has signed in at the server that a deferred call waited for. */
  onSignedIn: (call: Call) => void;
  /** Called before the intent of a call of which some units have invalid arguments. */
  onRefused: (call: Call, units: ReadonlyMap<string, StepError>) => void;
  /** Called when a call has ended. */
  onEnded: (call: Call, outcome: Outcome) => void;
}

/** The calls in progress of one run. */
export interface RunCalls extends Pick<EarlierCalls, "mayRepeat" | "areDone"> {
  /** Rejects when the run cannot continue because the lease or the database is lost. */
  make(call: Call): Promise<void>;
  abort(key: string, reason?: string): void;
  abortAll(): void;
}

/** True for a call that is compared with what an operator approved. */
function isApproved({ approvable, largeApprovable }: Call): boolean {
  return approvable !== undefined || largeApprovable !== undefined;
}

/** A call that is being made. */
interface MakingCall {
  signal: AbortSignal;
  /** The slot that it waited for. */
  cleared: Slot | undefined;
  /** Its arguments, when they are large. */
  large?: LargeArguments | undefined;
}

/** How a call is sent. */
interface Sending {
  idempotencyKey: string;
  argsHash: string;
  signal: AbortSignal;
  /** Its slot under a limit beyond the plan. */
  slot?: Slot | undefined;
  /** Its arguments, when they are large. */
  large: LargeArguments | undefined;
}

type Completed = Extract<Outcome, { type: "completed" }>;

/**
 * Most units that are worked on in one turn of the event loop: a list has up to 10,000 items. With the end of their
 * call they fit into one entry of the journal.
 */
export const MAX_AT_ONCE = 500;

/**
 * Lets the event loop do all work that is there. A second turn: after an answer of the database the first one begins
 * at once. A timer does not do: when 1 ms has passed, Node calls it before it reads what has arrived.
 */
export async function freeLoop(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** A call that waits for memory asks again after this time, in milliseconds, unless it is woken earlier. */
const ASK_FOR_MEMORY_MS = 4_000;

/**
 * A call that waits for a sign-in asks again after this time, in milliseconds, unless it is woken earlier.
 */
const ASK_FOR_SIGN_IN_MS = 600_000;

/** Creates the calls of a run; no call is in progress yet. */
export function createRunCalls(parts: RunCallsParts): RunCalls {
  const { claim, planTools, store, tools, signIns, secrets, limits, approvals, pending, wait } = parts;
  const { heldOutputs, largeJson } = parts;
  /** Steps of which the journal says why they wait. */
  const waitsTold = new Set<string>();
  const { clock, metrics, trace, hasEnded, onEnded } = parts;
  const { plan } = claim;
  const controllers = new Map<string, AbortController>();
  /** Ends the wait of each call for a sign-in. */
  const signInWaits = new Map<string, () => void>();
  const right = createRightToCall(parts);
  const clearances = createClearances(parts, right);
  const earlierCalls = createEarlierCalls(claim, store);

  async function make(call: Call): Promise<void> {
    const controller = new AbortController();
    controllers.set(call.key, controller);
    // Before anything is awaited: a slot that its call does not take at once goes to another call.
    const cleared = limits?.takeCleared(call);
    try {
      await makeWith(call, { signal: controller.signal, cleared });
    } finally {
      cleared?.release();
    }
  }

  /** Resolves the arguments of a call where they are large, and makes it. */
  async function makeWith(call: Call, at: MakingCall): Promise<void> {
    if (waitsForSignIn(call)) {
      tellThatItWaits(call, "sign-in").catch(parts.onError);
      const untilAt = store.now() + ASK_FOR_SIGN_IN_MS;
      return ended(call, { type: "deferred", untilAt, waitReason: "sign-in" });
    }
    if (!call.unresolved) return begin(call, at);
    // Before anything is built: its size is known. By a unit, which the end of the wait is reported for.
    const [unit = call.key] = unitKeysOf(call);
    const release = heldOutputs.reserve(unit, call.unresolved.bytes);
    if (!release) {
      tellThatItWaits(call, "memory").catch(parts.onError);
      const untilAt = store.now() + ASK_FOR_MEMORY_MS;
      return ended(call, { type: "deferred", untilAt, waitReason: "memory" });
    }
    try {
      const resolved = await resolve(call, call.unresolved);
      if (at.signal.aborted || hasEnded()) return ended(call, { type: "aborted" });
      const { arguments: args, large, warnings, refused } = resolved;
      if (refused.size > 0) parts.onRefused(call, refused);
      if (!args) return ended(call, { type: "aborted" });
      const { unresolved, ...rest } = call;
      const made = { ...rest, ...callOfUnits(unresolved, resolved), arguments: args };
      for (const warning of warnings) pending.warn(made, warning);
      await begin(made, { ...at, large });
    } finally {
      release();
    }
  }

  /** The server that is really called: a verification calls the lookup tool. */
  function serverOf({ tool, verify }: Call): string | undefined {
    return verify ? planTools.lookupOf(tool)?.server : planTools.addressOf(tool).server;
  }

  /** True when the server of a call needs a sign-in; the call is made again after it. */
  function waitsForSignIn(call: Call): boolean {
    const server = serverOf(call);
    if (server === undefined || !signIns?.needsSignIn(server)) return false;
    signInWaits.get(call.key)?.();
    const stopWaiting = signIns.onSignedIn(server, () => {
      signInWaits.delete(call.key);
      parts.onSignedIn(call);
    });
    signInWaits.set(call.key, stopWaiting);
    return true;
  }

  /** Writes once why a step waits that nothing else shows as started, or that is to be tried again. */
  async function tellThatItWaits({ key, stepId, items }: Call, waitReason: WaitReason): Promise<void> {
    const unit = claim.journal.unit(key);
    const { status = "PENDING", mayHaveActed = false } = unit ?? {};
    const isUnseen = status === "PENDING" ? !mayHaveActed : status === "RETRYING" && waitReason === "sign-in";
    if (items || !isUnseen || waitsTold.has(key) || hasEnded()) return;
    waitsTold.add(key);
    const record = unit ? recordOf(unit) : { key, stepId, status, attempts: 0 };
    store.noteRecords(claim, [{ ...record, waitReason }], []);
    await store.writeNoted(claim);
  }

  async function resolve(call: Call, unresolved: UnresolvedArguments): Promise<ResolvedArguments> {
    const { stored, units } = unresolved;
    // Of a call of many units, making the job and reading its result are each enough for one turn.
    const endTurn = async () => (units.length > MAX_AT_ONCE ? freeLoop() : undefined);
    await endTurn();
    const keys = stored.map(({ key }) => key);
    const read = keys.length > 0 ? await store.readStoredOutputs(claim, keys) : [];
    metrics.outputsRead(stored.reduce((sum, { bytes }) => sum + bytes, 0));
    const options = { isApproved: isApproved(call), secrets: secrets?.placesOf(call.stepId) ?? [] };
    const resolved = await largeJson.resolve(withStored(unresolved, read), options);
    await endTurn();
    return resolved;
  }

  /** Makes a call whose arguments are resolved, unless an earlier version has made it or it was refused. */
  async function begin(call: Call, { signal, cleared, large }: MakingCall): Promise<void> {
    const argsHash = large?.argsHash ?? sha256(JSON.stringify(call.arguments));
    const sent = earlierCalls.mayRepeat(call) ? await earlierCalls.compare(call, argsHash) : {};
    if ("type" in sent) return ended(call, sent);
    const refusal = isApproved(call) && !call.verify ? await approvals.refusalOf(call, large?.digest) : null;
    if (refusal) return ended(call, { type: "failed", effect: "none", error: refusal });
    const idempotencyKey = sent.sentKey ?? keyOf(call, argsHash);
    const sending = { idempotencyKey, argsHash, signal, large };
    const entering = cleared ? ({ type: "granted", slot: cleared } as const) : limits?.enter(call);
    if (!entering) return attempt(call, sending);
    const entry = await entering;
    if (entry.type === "deferred") return ended(call, entry);
    try {
      if (signal.aborted) return ended(call, { type: "aborted" });
      await attempt(call, { ...sending, slot: entry.slot });
    } finally {
      entry.slot.release();
    }
  }

  async function attempt(call: Call, sending: Sending): Promise<void> {
    const { idempotencyKey, argsHash, slot, large } = sending;
    const attemptId = clock.id();
    const keys = unitKeysOf(call);
    const isPlain = keys.length === 1 && idempotencyKey === `${plan._id}/${keys[0]}`;
    const sentKey = isKeyed(call) && !isPlain ? { sentKey: idempotencyKey } : {};
    const preview = large && { text: large.beginning, sizeBytes: large.bytes.byteLength };
    await pending.intend(call, { attemptId, argsHash, ...sentKey, ...(preview && { large: preview }) });
    if (!(await right.wait())) return;
    const startedAt = clock.now();
    if (call.attempt > 1 && !call.verify) metrics.retried();
    const { server } = planTools.addressOf(call.tool);
    const attemptTrace = trace?.attempt(call, server);
    const outcome = redactedOutcome(await send(call, sending, attemptTrace));
    const how = howEnded(call, outcome);
    attemptTrace?.ended(how);
    if (outcome.type === "failed" && outcome.effect === "unknown") slot?.abandon();
    if (!hasEnded()) {
      const durationMs = Math.round(clock.now() - startedAt);
      const end = { attemptId, endedAtMs: store.now(), durationMs, ...how };
      if (end.isUnsent) metrics.unreachable(serverOf(call));
      else if (!call.verify)
        metrics.attempted({ tool: call.tool, server, ...end, error: end.error ?? undefined });
      pending.ended(call, end);
      if (!call.verify) count(call, { end, outcome });
    }
    ended(call, outcome);
    // By now the result is on its way to MongoDB.
    if (outcome.type === "completed" && !call.verify) noteOutput(call, outcome);
  }

  function ended(call: Call, outcome: Outcome): void {
    controllers.delete(call.key);
    onEnded(call, outcome);
  }

  function count(
    { tool: name }: Call,
    { end, outcome }: { end: Omit<AttemptEnd, "key">; outcome: Outcome },
  ): void {
    const isProcessed = outcome.type !== "failed" || outcome.effect !== "none";
    parts.callRecorder?.note({ tenant: plan.tenant, tool: planTools.find(name), end, isProcessed });
  }

  function noteOutput({ tool: name, items }: Call, { output, shape }: Completed): void {
    const tool = planTools.find(name);
    parts.outputs?.note({ tenant: plan.tenant, tool, isItem: items !== undefined, output, shape });
  }

  async function send(
    call: Call,
    { idempotencyKey, signal, slot, large }: Sending,
    attemptTrace: AttemptTrace | undefined,
  ): Promise<Outcome> {
    if (signal.aborted) return { type: "aborted" };
    const traced = attemptTrace ? attemptTrace.around(tools) : tools;
    if (call.verify) {
      const callTool: ToolClients["callTool"] = (lookup) =>
        traced.callTool({
          ...lookup,
          beforeSend: (offered) => {
            const fill = async () => toSend(lookup.arguments);
            return clearances.clear(call, { offered, slot, sendsSecrets: false, fill });
          },
        });
      const argumentsOf = async (template: JsonObject) =>
        large
          ? largeJson.lookup(large, template, idempotencyKey)
          : lookupArguments(template, { arguments: call.arguments, idempotencyKey });
      const { found: readFound } = largeJson;
      const asked = { call, idempotencyKey, argumentsOf, readFound };
      return askLookup({ ...asked, planTools, tools: { callTool }, signal, wait });
    }
    const { timeoutMs } = call;
    const args = large?.bytes ?? call.arguments;
    const address = planTools.addressOf(call.tool);
    const present = large?.secrets ?? presentIn(call.arguments, secrets?.placesOf(call.stepId) ?? []);
    const fillIn = async (values: SecretValues) =>
      large ? largeJson.fill(large, values) : withSecrets(call.arguments, present, values);
    const sendsSecrets = present.length > 0;
    const fill = async () =>
      sendsSecrets && secrets
        ? secrets.fill({ ...address, present, fillIn }).catch(notFilledIn)
        : toSend(args);
    return traced.callTool({
      ...address,
      arguments: args,
      timeoutMs,
      signal,
      idempotencyKey,
      beforeSend: (offered) => clearances.clear(call, { offered, slot, sendsSecrets, fill }),
    });
  }

  /**
   * The idempotency key names the unit, not the attempt, so it stays the same over crashes and retries. It
   * names the first plan that sent this call, if no later version got an answer to it.
   */
  function keyOf(call: Call, argsHash: string): string {
    const keys = unitKeysOf(call);
    const sent = keys.map((key) => claim.journal.unit(key)).find((unit) => unit?.sentKey !== undefined);
    if (sent?.sentKey !== undefined && sent.argsHash === argsHash) return sent.sentKey;
    const earlier = claim.journal.unit(call.stepId)?.unanswered ?? [];
    // A batch is the same call only if it serves the same items, which its arguments show.
    const same = earlier.find((one) => keys.includes(one.key) && one.argsHash === argsHash);
    return `${same?.planId ?? plan._id}/${call.key}`;
  }

  const { mayRepeat, areDone } = earlierCalls;
  return {
    make,
    mayRepeat,
    areDone,
    abort: (key, reason) => controllers.get(key)?.abort(reason),
    abortAll() {
      for (const controller of controllers.values()) controller.abort();
      for (const stopWaiting of signInWaits.values()) stopWaiting();
    },
  };
}

function toSend(args: JsonObject | Uint8Array): Clearance {
  return { type: "send", arguments: args };
}

/** The outcome of a call with large arguments into which its secrets could not be written. */
function notFilledIn(error: unknown): Outcome {
  if (!(error instanceof ThreadEndedError)) throw error;
  const why = `Nothing was called: the secrets could not be written into the arguments: ${error.message}`;
  return { type: "failed", effect: "none", error: tooLarge(why) };
}

function howEnded(
  call: Call,
  outcome: Outcome,
): Pick<AttemptEnd, "outcome" | "error" | "isUnsent" | "effect"> {
  const effect = effectOfCall(call, outcome);
  switch (outcome.type) {
    case "completed":
      return { outcome: "completed", error: null, effect };
    case "failed":
      return {
        outcome: outcome.effect === "unknown" ? "unknown" : "failed",
        error: outcome.error,
        effect,
        isUnsent: isUnreachable(outcome) || isUnansweredLookup(call, outcome),
      };
    case "aborted":
    case "carried":
    case "deferred":
      return { outcome: "aborted", error: null, effect };
  }
}

/**
 * An outcome whose error may be stored and shown: error texts of tools may contain addresses with passwords.
 * Outputs stay as they are, because other steps need them.
 */
export function redactedOutcome(outcome: Outcome): Outcome {
  if (outcome.type !== "failed") return outcome;
  const { message, data, ...error } = outcome.error;
  return {
    ...outcome,
    error: {
      ...error,
      message: redactText(message),
      ...(data === undefined ? {} : { data: redactJson(data, { maxDepth: 100 }) }),
    },
  };
}

/**
 * No call starts in the last part of the time after which other workers may declare this process dead. Length
 * of this part, in milliseconds.
 */
const LIVENESS_MARGIN_MS = 500;

/** Whether a run may start calls now. */
interface RightToCall {
  /** True while, as far as this process knows, no other worker can have claimed the plan. */
  isHeld(): boolean;
  /** Waits while the database does not answer. False when the run has ended by then, or the plan is lost. */
  wait(): Promise<boolean>;
}

/** Dependencies of {@link createRightToCall}. */
interface RightParts {
  claim: Pick<PlanClaim, "owner">;
  liveness: Liveness;
  clock: Pick<RunClock, "now">;
  hasEnded: () => boolean;
  /** This process was declared dead and continues under another name. */
  onLost: () => void;
}

function createRightToCall({ claim, liveness, clock, hasEnded, onLost }: RightParts): RightToCall {
  const isOwned = (): boolean => liveness.owner() === claim.owner;
  const isHeld = (): boolean => isOwned() && clock.now() <= liveness.validUntil() - LIVENESS_MARGIN_MS;
  return {
    isHeld,
    async wait() {
      while (!hasEnded() && isOwned() && !isHeld()) await liveness.nextAnswer();
      if (!isOwned()) onLost();
      return !hasEnded();
    },
  };
}

/* The last checks of a call, when its connection is open: opening it may have taken long. */

/** Dependencies of {@link createClearances}. */
interface ClearanceParts {
  planTools: Pick<PlanTools, "judge">;
  pending: Pick<PendingWrites, "warn">;
  logger: Logger;
  /** True when the run has ended: nothing starts and nothing is reported. */
  hasEnded: () => boolean;
  /** True when the plan's deadline has passed. */
  isExpired: () => boolean;
}

/** Facts that a clearance depends on. */
interface ClearanceRequest {
  /** The tool as its server lists it now. */
  offered: ToolDescriptor;
  /** The call's slot under a limit beyond the plan. */
  slot: Slot | undefined;
  /** True when its arguments have secrets. */
  sendsSecrets: boolean;
  /** Fills in the secrets, and returns the arguments to send. */
  fill: () => Promise<Clearance>;
}

/** Decides whether a call is sent. */
interface Clearances {
  /** Whether this call is sent now, and with which arguments. */
  clear(call: Call, request: ClearanceRequest): Promise<Clearance>;
}

/** The clearances of one run. */
function createClearances(parts: ClearanceParts, right: RightToCall): Clearances {
  const { planTools, pending, logger, hasEnded, isExpired } = parts;
  /** Changes of tools that were logged already. */
  const loggedChanges = new Set<string>();

  /**
   * Why a call must not go to the tool as its server lists it now. A change that does not prevent the call
   * becomes a warning.
   */
  function refusalOfTool(
    call: Call,
    { offered, sendsSecrets }: Pick<ClearanceRequest, "offered" | "sendsSecrets">,
  ): StepError | undefined {
    const { tool, verify: isLookup = false } = call;
    const { changes, refusal, warning } = planTools.judge({ tool, isLookup, sendsSecrets }, offered);
    if (changes.length === 0) return undefined;
    if (warning !== undefined) pending.warn(call, warning);
    const change = JSON.stringify([offered.server, offered.name, changes]);
    if (loggedChanges.has(change)) return refusal;
    loggedChanges.add(change);
    const facts = { tool: offered.name, server: offered.server, changes };
    logger.warn(facts, refusal ? "tool has changed, and is not called" : "tool has changed, and is called");
    return refusal;
  }

  async function maySend(call: Call, slot: Slot | undefined): Promise<boolean> {
    do {
      if (!(await right.wait())) return false;
      if (slot && !(await slot.confirm())) return false;
    } while (!right.isHeld());
    return !hasEnded() && (call.settles === true || !isExpired());
  }

  return {
    // The tool is checked first: no secret is read for a tool that has changed.
    async clear(call, { slot, fill, ...request }) {
      const refusal = refusalOfTool(call, request);
      if (refusal) return { type: "failed", effect: "none", error: refusal };
      const clearance = await fill();
      if (clearance.type !== "send") return clearance;
      return (await maySend(call, slot)) ? clearance : { type: "aborted" };
    },
  };
}

/** The comparison of calls with those of earlier versions of the plan. */
interface EarlierCalls {
  /** True for a call that may have an effect and is the first of its units in this version. */
  mayRepeat: (call: CallToApprove) => boolean;
  /**
   * What the earlier calls mean for this one: how it ends without being sent, or the idempotency key under
   * which it was sent before; without a key it is a new call. Also reserves the earlier calls for its units.
   * @param argsHash - of its resolved arguments
   */
  compare(call: CallToApprove, argsHash: string): Promise<Outcome | { sentKey?: string | undefined }>;
  /**
   * True when earlier versions have made all these calls of a step, for all units: `compare` carries each of
   * them over.
   */
  areDone: (calls: readonly CallToApprove[]) => Promise<boolean>;
}

/** The earlier versions are read once, before the first call that may have an effect. */
function createEarlierCalls(claim: PlanClaim, store: Pick<ExecutionStore, "readRepeats">): EarlierCalls {
  const hasEarlier = claim.journal.request().plans.size > 1;
  let repeats: ReturnType<ExecutionStore["readRepeats"]> | undefined;

  const earlierCalls: EarlierCalls = {
    mayRepeat: (call) =>
      hasEarlier &&
      call.mayAct &&
      !isRepeatable(call) &&
      unitKeysOf(call).every((key) => (claim.journal.unit(key)?.attempts.length ?? 0) === 0),

    async compare(call, argsHash) {
      repeats ??= store.readRepeats(claim);
      const repeatOf = await repeats;
      if (!repeatOf) return {};
      const { stepId, tool, itemHashes } = call;
      const isApproved = claim.journal.unit(stepId)?.approved ?? false;
      const found = unitKeysOf(call).map((key, index) => {
        const hash = itemHashes?.[index] ?? argsHash;
        return { key, repeat: repeatOf({ key, stepId, tool, hash, argsHash, isApproved }) };
      });
      const done = found.flatMap(({ key, repeat }) =>
        repeat.type === "done" ? [[key, carried(repeat.call)] as const] : [],
      );
      if (done.length > 0) return { type: "carried", units: new Map(done) };
      const refused = found.map(({ repeat }) => repeat).find(({ type }) => type === "not accepted");
      if (refused) return notAccepted(call, refused);
      const sent = found.flatMap(({ repeat }) => (repeat.type === "same key" ? [repeat.call.sentKey] : []));
      return { sentKey: sent[0] };
    },

    async areDone(calls) {
      for (const call of calls) {
        if (!earlierCalls.mayRepeat(call)) return false;
        const found = await earlierCalls.compare(call, sha256(JSON.stringify(call.arguments)));
        const carriedUnits = "type" in found && found.type === "carried" ? found.units.size : 0;
        if (carriedUnits < unitKeysOf(call).length) return false;
      }
      return true;
    },
  };
  return earlierCalls;
}

function carried({ version, unit }: EarlierCall): CarriedUnit {
  const { outputRef, outputBytes } = unit;
  const bytes = outputRef?.sizeBytes ?? outputBytes;
  const { planId } = version.folded;
  return { planId, key: unit.key, ...(bytes === undefined ? { output: null } : { outputBytes: bytes }) };
}

function notAccepted({ stepId, key }: CallToApprove, repeat: Repeat): Outcome {
  const call = "call" in repeat ? repeat.call : undefined;
  const version = call?.version.folded.version ?? 1;
  const acted = call?.effect === "done" ? "is done" : "may have acted";
  const message = `${key} was not called: the same call of ${call?.unit.key ?? key} in version ${version} ${acted}. See whether it should happen again; then run the plan again with acceptRepeat: ["${stepId}"]`;
  return {
    type: "failed",
    effect: "none",
    error: { code: "REPEAT_NOT_ACCEPTED", message, retryable: false },
  };
}
