import type { Outcome } from "@planwright/engine";
import { isKeyed, type JsonObject, type JsonValue } from "@planwright/plan";
import type { ToolCall, ToolClients } from "@planwright/tools";
import { hashOf, type Random } from "../../random/random.ts";
import {
  argumentsOfEach,
  CATALOGUE,
  DEADLY_TOOL,
  ENVELOPE_TOOL,
  LOOKUP_TOOL,
  SETTLE_MS,
  TOOL_FACTS,
  unitNamesOf,
  type WorldTool,
} from "../world/catalogue.ts";
import type { SimulatedProcess } from "../world/processes.ts";
import type { ToolSettings } from "../world/settings.ts";
import type { World } from "./world.ts";

/** Time in which a cancelled call may still answer, in milliseconds. */
const CANCEL_GRACE_MS = 5_000;
/** The longest time of a connection, in milliseconds. */
const MAX_CONNECT_MS = 2_000;

/** The tools of one world, with a ledger of their effects. */
export interface SimulatedTools {
  /** The tool clients of a process. */
  clientsOf(
    process: SimulatedProcess,
  ): Pick<ToolClients, "callTool" | "needsSignIn" | "onSignedIn" | "checkSignIns">;
  /** The sign-in at their server ends, until a person has signed in at a time. */
  endSignIn(untilMs: number): void;
}

/** Tools that act, answer, fail and hang by the settings of the world. */
export function createSimulatedTools(world: World): SimulatedTools {
  const { timeline, checker, faults, log, settings } = world;
  const random = world.random.stream("tools");
  /** Outputs by unit; for tools that honour keys by key and unit. */
  const ledger = new Map<string, JsonValue>();
  /** Keys for which a tool that honours keys reported an error. */
  const refusedKeys = new Set<string>();
  /** Items that a tool that honours keys refused, by key and unit. */
  const refusedItems = new Set<string>();
  let serial = 0;
  let signedInFrom = 0;

  /**
   * The tool receives the call. It acts once for each unit of the call, unless it has acted for this key
   * before.
   */
  function act(call: ToolCall): JsonValue {
    const names = unitNamesOf(call);
    if (call.tool === LOOKUP_TOOL) {
      const result = ledger.get(names[0] ?? "");
      return result === undefined ? { found: false } : { found: true, result };
    }
    const facts = factsOf(call);
    const hasKey = isKeyed(facts);
    const each = argumentsOfEach(call);
    if (isRefused(call)) return null;
    const isBatch = !(call.arguments instanceof Uint8Array) && Array.isArray(call.arguments["items"]);
    const results = names.map((name, index): ItemResult => {
      const entry = hasKey ? `${call.idempotencyKey} ${name}` : name;
      const known = hasKey ? ledger.get(entry) : undefined;
      if (known !== undefined) return { data: known };
      if (refusedItems.has(entry)) return { error: ITEM_ERROR };
      if (isBatch && random.chance(settings.tools.itemFailed)) {
        if (hasKey) refusedItems.add(entry);
        return { error: ITEM_ERROR };
      }
      checker.effects.acted(name, { tool: facts, call, arguments: each[index] ?? "" });
      const output = outputOf(name, serial++);
      ledger.set(entry, output);
      return { data: output };
    });
    if (isBatch) return call.tool === ENVELOPE_TOOL ? envelopeOf(results) : { results: results.map(dataOf) };
    return dataOf(results[0]);
  }

  /** After an error for a key the tool repeats the error: a later call with the key has no effect. */
  function isRefused(call: ToolCall): boolean {
    return isKeyed(factsOf(call)) && refusedKeys.has(call.idempotencyKey ?? "");
  }

  function hasActed(call: ToolCall): boolean {
    return unitNamesOf(call).some((name) => ledger.has(`${call.idempotencyKey} ${name}`));
  }

  /** A tool that honours keys gives the same answer to each call with a key. */
  function consistent(call: ToolCall, fate: CallFate): CallFate {
    const isReported = fate.outcome?.type === "failed" && fate.outcome.effect === "reported";
    if (!isKeyed(factsOf(call))) return fate;
    if (isReported && hasActed(call)) return { ...fate, arrivesIn: fate.endsIn - 1, outcome: undefined };
    const hasNoEffect = fate.arrivesIn === undefined;
    if (isReported && hasNoEffect) refusedKeys.add(call.idempotencyKey ?? "");
    return fate.outcome === undefined && isRefused(call) ? { ...fate, ...refusal(fate.endsIn) } : fate;
  }

  function send(process: SimulatedProcess, call: ToolCall, ended: () => void): Promise<Outcome> {
    const sentAt = timeline.now();
    const fate = consistent(call, drawCallFate(call, settings.tools, random, sentAt));
    checker.unreachable.tried(call, fate.outcome);
    let answer: JsonValue = null;
    if (fate.arrivesIn !== undefined) {
      timeline.at(sentAt + fate.arrivesIn, () => {
        answer = act(call);
        if (call.tool === DEADLY_TOOL) faults.kill(process, "by a deadly call");
      });
    }
    return new Promise((resolve) => {
      const settle = (outcome: Outcome): void => {
        ended();
        log.note(process.name, call.tool, "answers", unitNamesOf(call).join(","), describe(outcome));
        resolve(outcome);
      };
      const cancel = process.deliver(sentAt + fate.endsIn, () => {
        settle(fate.outcome ?? { type: "completed", output: answer });
      });
      call.signal?.addEventListener("abort", () => {
        const graceEndsAt = timeline.now() + CANCEL_GRACE_MS;
        if (sentAt + fate.endsIn <= graceEndsAt) return;
        cancel();
        process.deliver(graceEndsAt, () => settle(failed("CANCELLED", "unknown", false)));
      });
    });
  }

  /** What a process knows about the sign-in, and what waits for it there. */
  function signInOf(): Pick<ToolClients, "needsSignIn" | "onSignedIn" | "checkSignIns"> {
    const waiting = new Set<() => void>();
    let isNeeded = false;
    const isOver = (): boolean => timeline.now() >= signedInFrom;
    return {
      needsSignIn() {
        isNeeded ||= !isOver();
        return isNeeded;
      },
      onSignedIn(_server, then) {
        waiting.add(then);
        return () => void waiting.delete(then);
      },
      async checkSignIns() {
        if (!isNeeded || !isOver()) return [];
        isNeeded = false;
        const all = [...waiting];
        waiting.clear();
        for (const then of all) then();
        return ["simulated"];
      },
    };
  }

  return {
    endSignIn(untilMs) {
      signedInFrom = Math.max(signedInFrom, untilMs);
      faults.note(untilMs);
      log.note("the sign-in has ended until", String(untilMs));
    },
    clientsOf: (process) => ({
      ...signInOf(),
      async callTool(call) {
        if (!faults.survives(process, `before ${call.tool}`)) return never();
        const connectingAt = timeline.now();
        await process.sleep(random.whole(1, random.chance(0.95) ? 3 : MAX_CONNECT_MS));
        if (call.signal?.aborted) return { type: "aborted" };
        const offered = CATALOGUE.find(({ name }) => name === call.tool) ?? { name: call.tool };
        const clearance = await call.beforeSend?.(offered);
        if (clearance && clearance.type !== "send") return clearance;
        log.note(
          process.name,
          "calls",
          call.tool,
          unitNamesOf(call).join(","),
          `with ${call.idempotencyKey ?? ""}`,
        );
        const ended = checker.called(process.name, call, connectingAt);
        const outcome = send(process, call, ended);
        return faults.survives(process, `after sending ${call.tool}`) ? outcome : never();
      },
    }),
  };
}

/** The answer of a tool for one item of a batch. */
type ItemResult = { data: JsonValue } | { error: JsonObject };

const ITEM_ERROR = { code: "ITEM_REFUSED", message: "simulated refusal of an item" };

function dataOf(result: ItemResult | undefined): JsonValue {
  return result && "data" in result ? result.data : { error: ITEM_ERROR };
}

/** Entries have any order: their index names the item. */
function envelopeOf(results: readonly ItemResult[]): JsonObject {
  const entries = results.map((result, index) => {
    const key = `k${index}`;
    return "data" in result
      ? { index, key, status: "ok", ...result }
      : { index, key, status: "error", ...result };
  });
  const ok = results.filter((result) => "data" in result).length;
  return { results: entries.toReversed(), summary: { ok, error: results.length - ok } };
}

function factsOf({ tool }: ToolCall): WorldTool {
  const facts = TOOL_FACTS.get(tool);
  if (!facts) throw new TypeError(`No simulated tool is called ${tool}`);
  return facts;
}

/** The answer to a dead process never comes. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

/**
 * A new value for each effect, so that the checker sees a changed output or an argument from a wrong output.
 */
function outputOf(unit: string, serial: number): JsonObject {
  const list = Array.from({ length: hashOf(unit) % 6 }, (_, index) => index + serial);
  return { value: serial, list };
}

function describe(outcome: Outcome): string {
  return outcome.type === "failed" ? `${outcome.error.code} (${outcome.effect})` : outcome.type;
}

/** How a call ends; drawn when the call is sent. */
interface CallFate {
  /** Milliseconds until the call reaches the tool; undefined: it never does. */
  arrivesIn: number | undefined;
  endsIn: number;
  /** The outcome for the caller; undefined: the answer of the tool. */
  outcome: Outcome | undefined;
}

type FailedOutcome = Extract<Outcome, { type: "failed" }>;

/** The outcome of a failed call, as the tool clients report it. */
export function failed(
  code: string,
  effect: "none" | "reported" | "unknown",
  retryable: boolean,
): FailedOutcome {
  return { type: "failed", effect, error: { code, message: `simulated ${code}`, retryable } };
}

/** The tool receives the call and refuses it. */
function refusal(endsIn: number): CallFate {
  return { arrivesIn: undefined, endsIn, outcome: failed("TOOL_FAILED", "reported", false) };
}

/** Draws the fate of a call. @param now - simulated milliseconds */
function drawCallFate(call: ToolCall, tools: ToolSettings, random: Random, now: number): CallFate {
  const arrivesIn = random.whole(1, random.chance(0.9) ? 5 : SETTLE_MS);
  const endsIn = arrivesIn + random.whole(1, tools.maxLatencyMs);
  const arrives = random.chance(0.5);
  const drawn = random.next();
  let upTo = 0;
  const isDrawn = (rate: number): boolean => {
    upTo += rate;
    return drawn < upTo;
  };
  const refused = (outcome: Outcome): CallFate => ({ arrivesIn: undefined, endsIn: 3, outcome });
  const silent = (outcome: Outcome, ends: number): CallFate => ({
    arrivesIn: arrives ? arrivesIn : undefined,
    endsIn: ends,
    outcome,
  });
  const timedOut = failed("TOOL_TIMEOUT", "unknown", true);

  if (now >= tools.awayFromMs && now < tools.awayFromMs + tools.awayForMs) {
    return refused(failed("TOOL_UNREACHABLE", "none", true));
  }
  if (call.tool === LOOKUP_TOOL) {
    return { arrivesIn, endsIn, outcome: isDrawn(tools.lookupSilent) ? timedOut : undefined };
  }
  if (isDrawn(tools.refused)) return refused(failed("TOOL_UNREACHABLE", "none", true));
  if (isDrawn(tools.unauthorized)) return refused(failed("TOOL_UNAUTHORIZED", "none", false));
  if (isDrawn(tools.rateLimited)) {
    const retryAfterMs = random.whole(1, 8_000);
    return refused({ ...failed("TOOL_RATE_LIMITED", "none", true), retryAfterMs });
  }
  if (isDrawn(tools.reported)) return refusal(endsIn);
  // The connection may be lost before the call has arrived; the call still reaches the tool.
  if (isDrawn(tools.lost))
    return silent(failed("TOOL_CONNECTION_LOST", "unknown", true), random.whole(1, endsIn));
  if (isDrawn(tools.hanging)) return silent(timedOut, call.timeoutMs);
  if (isDrawn(tools.failedAfterEffect))
    return { arrivesIn, endsIn, outcome: failed("TOOL_FAILED", "reported", false) };
  if (endsIn > call.timeoutMs) return { arrivesIn, endsIn: call.timeoutMs, outcome: timedOut };
  return { arrivesIn, endsIn, outcome: undefined };
}
