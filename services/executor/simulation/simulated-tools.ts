import type { Outcome } from "@planwright/engine";
import type { JsonObject, JsonValue } from "@planwright/plan";
import type { ToolCall, ToolClients } from "@planwright/tools";
import { DEADLY_TOOL, LOOKUP_TOOL, SETTLE_MS, TOOL_FACTS } from "./catalogue.ts";
import { hashOf } from "./random.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

/** How long a cancelled call may still answer, in milliseconds. */
const CANCEL_GRACE_MS = 5_000;

/** The tools of one world, with a ledger of what they did. */
export interface SimulatedTools {
  /** As a process reaches them. */
  clientsOf(process: SimulatedProcess): Pick<ToolClients, "callTool">;
}

/** What becomes of a call; decided when it is sent. */
interface Fate {
  /** Milliseconds until the tool has it; undefined: it never does. */
  arrivesIn: number | undefined;
  endsIn: number;
  /** Said at the end; undefined: what the tool answers. */
  outcome: Outcome | undefined;
}

function failed(code: string, effect: "none" | "reported" | "unknown", retryable: boolean): Outcome {
  return { type: "failed", effect, error: { code, message: `simulated ${code}`, retryable } };
}

/** Tools that act, answer, fail and fall silent as the settings of the world say. */
export function createSimulatedTools(world: World): SimulatedTools {
  const { timeline, checker, faults, log, settings } = world;
  const random = world.random.stream("tools");
  /** What a unit was answered when its tool acted for it. */
  const ledger = new Map<string, JsonValue>();
  let serial = 0;

  function drawFate(call: ToolCall): Fate {
    const { tools } = settings;
    const arrivesIn = random.whole(1, random.chance(0.9) ? 5 : SETTLE_MS);
    const endsIn = arrivesIn + random.whole(1, tools.maxLatencyMs);
    const drawn = random.next();
    let upTo = 0;
    const falls = (rate: number): boolean => drawn < (upTo += rate);
    if (call.tool === LOOKUP_TOOL) {
      return {
        arrivesIn,
        endsIn,
        outcome: falls(tools.lookupSilent) ? failed("TOOL_TIMEOUT", "unknown", true) : undefined,
      };
    }
    if (falls(tools.refused))
      return { arrivesIn: undefined, endsIn: 2, outcome: failed("TOOL_UNREACHABLE", "none", true) };
    if (falls(tools.rateLimited)) {
      const limited = failed("TOOL_RATE_LIMITED", "none", true);
      return {
        arrivesIn: undefined,
        endsIn: 3,
        outcome: { ...limited, ...{ retryAfterMs: random.whole(1, 8_000) } },
      };
    }
    if (falls(tools.unauthorized))
      return { arrivesIn: undefined, endsIn: 3, outcome: failed("TOOL_UNAUTHORIZED", "none", false) };
    if (falls(tools.reported))
      return { arrivesIn: undefined, endsIn, outcome: failed("TOOL_FAILED", "reported", false) };
    const isHeard = random.chance(0.5);
    if (falls(tools.lost)) {
      const outcome = failed("TOOL_CONNECTION_LOST", "unknown", true);
      // The connection may be lost while the call is on its way, which comes to the tool all the same.
      return { arrivesIn: isHeard ? arrivesIn : undefined, endsIn: random.whole(1, endsIn), outcome };
    }
    if (falls(tools.hanging)) {
      const outcome = failed("TOOL_TIMEOUT", "unknown", true);
      return { arrivesIn: isHeard ? arrivesIn : undefined, endsIn: call.timeoutMs, outcome };
    }
    if (endsIn > call.timeoutMs)
      return { arrivesIn, endsIn: call.timeoutMs, outcome: failed("TOOL_TIMEOUT", "unknown", true) };
    return { arrivesIn, endsIn, outcome: undefined };
  }

  /** The tool has the call: it acts, once for each unit that it serves, or finds that it has acted for this key. */
  function act(call: ToolCall): JsonValue {
    const { items, unit } = call.arguments;
    if (call.tool === LOOKUP_TOOL) {
      const result = ledger.get(String(unit));
      return result === undefined ? { found: false } : { found: true, result };
    }
    const effectClass = TOOL_FACTS.get(call.tool)?.effectClass ?? "U";
    const actOnce = (name: string): JsonValue => {
      // A tool that honours keys keeps its answers by them, and knows nothing of units.
      const entry = effectClass === "K" ? `${call.idempotencyKey} ${name}` : name;
      const known = effectClass === "K" ? ledger.get(entry) : undefined;
      if (known !== undefined) return known;
      checker.effects.acted(name, effectClass);
      const output = outputOf(name, serial++);
      ledger.set(entry, output);
      return output;
    };
    if (!Array.isArray(items)) return actOnce(String(unit));
    return { results: items.map((item) => actOnce(String(isObject(item) ? item["unit"] : ""))) };
  }

  function send(process: SimulatedProcess, call: ToolCall, ended: () => void): Promise<Outcome> {
    const fate = drawFate(call);
    const begunAt = timeline.now();
    let answer: JsonValue = null;
    if (fate.arrivesIn !== undefined) {
      timeline.at(begunAt + fate.arrivesIn, () => {
        answer = act(call);
        if (call.tool === DEADLY_TOOL) faults.kill(process, "by a deadly call");
      });
    }
    return new Promise((resolve) => {
      const settle = (outcome: Outcome): void => {
        ended();
        log.note(process.name, call.tool, "answers", nameOf(call), describe(outcome));
        resolve(outcome);
      };
      const takeBack = process.deliver(begunAt + fate.endsIn, () => {
        settle(fate.outcome ?? { type: "completed", output: answer });
      });
      call.signal?.addEventListener("abort", () => {
        const graceEndsAt = timeline.now() + CANCEL_GRACE_MS;
        if (begunAt + fate.endsIn <= graceEndsAt) return;
        takeBack();
        process.deliver(graceEndsAt, () => settle(failed("CANCELLED", "unknown", false)));
      });
    });
  }

  return {
    clientsOf: (process) => ({
      async callTool(call) {
        if (!process.isAlive() || !faults.survives(process, `before ${call.tool}`))
          return new Promise(() => undefined);
        const begunAt = timeline.now();
        // The connection takes its time.
        await process.sleep(random.whole(1, random.chance(0.95) ? 3 : 2_000));
        if (call.signal?.aborted) return { type: "aborted" };
        if (call.beforeSend && !(await call.beforeSend())) return { type: "aborted" };
        log.note(process.name, "calls", call.tool, nameOf(call), call.idempotencyKey ?? "");
        const ended = checker.called(process.name, call, begunAt);
        const outcome = send(process, call, ended);
        return faults.survives(process, `after sending ${call.tool}`)
          ? outcome
          : new Promise(() => undefined);
      },
    }),
  };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Different each time that a tool acts, so that an output that changed, or an argument made of another one, is seen. */
function outputOf(unit: string, serial: number): JsonObject {
  const list = Array.from({ length: hashOf(unit) % 6 }, (_, index) => index + serial);
  return { value: serial, list };
}

function nameOf(call: ToolCall): string {
  const { items, unit } = call.arguments;
  if (!Array.isArray(items)) return String(unit);
  return items.map((item) => String(isObject(item) ? item["unit"] : "")).join(",");
}

function describe(outcome: Outcome): string {
  return outcome.type === "failed" ? `${outcome.error.code} (${outcome.effect})` : outcome.type;
}
