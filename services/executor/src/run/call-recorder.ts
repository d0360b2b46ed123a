/**
 * Counts how calls of tools ended, for display. It adds no write to a call: counts of all tools are collected
 * in memory and added to the store together, at most every few seconds. Counts that a crash or a failed write
 * loses stay lost.
 */
import { STEP_ERROR_CODES } from "@planwright/engine";
import { bareName, type ToolDescriptor } from "@planwright/plan";
import { createBoundedLabel, createRunClock, type Logger, type RunClock } from "@planwright/runtime";
import {
  type AttemptEnd,
  type CountedCalls,
  type ExecutionStore,
  hourOf,
  latencyBucket,
} from "@planwright/store";

/** Dependencies of {@link createCallRecorder}. */
interface CallRecorderParts {
  store: Pick<ExecutionStore, "addToolCalls">;
  logger: Logger;
  /** Default: the clock of the platform. */
  clock?: Pick<RunClock, "after"> | undefined;
}

/** A call that ended. */
export interface EndedCall {
  tenant: string;
  /** The tool that was called; undefined when it is no longer known. */
  tool: ToolDescriptor | undefined;
  end: Pick<AttemptEnd, "endedAtMs" | "durationMs" | "outcome" | "error">;
  /**
   * False when the tool certainly did not process the call: its server was down, refused it at once, or was
   * not asked.
   */
  isProcessed: boolean;
}

/** Counts calls. */
export interface CallRecorder {
  /** Counts a call, unless we aborted it. Never throws. */
  note(call: EndedCall): void;
  /** Writes the counts that are not written yet. */
  stop(): Promise<void>;
}

/** How long counts are collected before they are written, in milliseconds. */
const WRITE_AFTER_MS = 5_000;
/** Most tools (per tenant and hour) that are collected; then they are written at once. */
const MAX_COLLECTED = 2_000;
/** Most codes from tools that one process counts by name. */
const MAX_TOOL_CODES = 100;
/**
 * The name for further codes, and for texts that are not codes: these may contain values of users, and are
 * not valid as field names.
 */
const OTHER = "other";
const CODE = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const OUR_CODES: ReadonlySet<string> = new Set(STEP_ERROR_CODES);

/** A recorder that has counted nothing yet. */
export function createCallRecorder(parts: CallRecorderParts): CallRecorder {
  const { store, logger, clock = createRunClock() } = parts;
  let collected = new Map<string, CountedCalls>();
  const toolCode = createBoundedLabel(MAX_TOOL_CODES);
  let cancel: (() => void) | undefined;
  let writing = Promise.resolve();

  async function write(counted: readonly CountedCalls[]): Promise<void> {
    try {
      await store.addToolCalls(counted);
    } catch (error) {
      logger.warn({ err: error, tools: counted.length }, "counts of tool calls not written; they are lost");
    }
  }

  function writeCollected(): void {
    cancel?.();
    cancel = undefined;
    const counted = [...collected.values()];
    collected = new Map();
    writing = writing.then(() => write(counted));
  }

  function codeOf(code: string): string {
    if (OUR_CODES.has(code)) return code;
    return CODE.test(code) ? toolCode(code) : OTHER;
  }

  return {
    note({ tenant, tool, end, isProcessed }) {
      if (tool?.server === undefined || end.outcome === "aborted") return;
      const { server } = tool;
      const name = bareName(tool);
      const hour = hourOf(end.endedAtMs);
      const lastAt = new Date(end.endedAtMs);
      const key = JSON.stringify([tenant, server, name, hour.getTime()]);
      const counts = collected.get(key) ?? {
        tenant,
        server,
        tool: name,
        hour,
        lastAt,
        calls: 0,
        failures: 0,
        durations: {},
        durationSums: {},
        errors: {},
      };
      collected.set(key, counts);
      counts.calls += 1;
      counts.lastAt = lastAt;
      if (isProcessed) {
        const bucket = String(latencyBucket(end.durationMs));
        increment(counts.durations, bucket);
        increment(counts.durationSums, bucket, end.durationMs);
      }
      if (end.outcome !== "completed") {
        counts.failures += 1;
        increment(counts.errors, codeOf(end.error?.code ?? OTHER));
      }
      if (collected.size >= MAX_COLLECTED) writeCollected();
      else cancel ??= clock.after(WRITE_AFTER_MS, writeCollected);
    },
    async stop() {
      if (collected.size > 0) writeCollected();
      await writing;
    },
  };
}

function increment(counts: { [name: string]: number }, name: string, by = 1): void {
  counts[name] = (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0) + by;
}
