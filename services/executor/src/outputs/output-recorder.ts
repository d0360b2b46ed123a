/**
 * Learns what outputs look like from those that come by. It never delays a plan: outputs are looked at after their results are on their way, a
 * few of each tool a second, and what was learned of all tools is written together. What a crash or a failed write loses, later outputs teach.
 */
import {
  bareName,
  type JsonValue,
  leavesOpen,
  mergeShapes,
  shapeOfOutput,
  type ToolDescriptor,
  toolContract,
  toolDigest,
} from "@planwright/plan";
import { createRunClock, type Logger, type RunClock } from "@planwright/runtime";
import type { ExecutionStore, LearnedOutput } from "@planwright/store";

/** What learning needs. */
export interface OutputRecorderParts {
  store: Pick<ExecutionStore, "learnOutputs">;
  logger: Logger;
  /** Default: the platform's. */
  clock?: Pick<RunClock, "after"> | undefined;
}

/** An output as a call gave it. */
export interface SeenOutput {
  tenant: string;
  /** The tool as it was called; undefined for one that is not known any more. */
  tool: ToolDescriptor | undefined;
  /** True for the item of a forEach, or several of them. */
  isItem: boolean;
  output: JsonValue;
}

/** Learns what outputs look like. */
export interface OutputRecorder {
  /** Looks at an output, unless enough of its tool was seen. Never throws for what an output holds, and keeps nothing of it. */
  note(seen: SeenOutput): void;
  /** Writes what is not written yet. */
  stop(): Promise<void>;
}

/** How long what was learned is gathered before it is written, in milliseconds. */
const WRITE_AFTER_MS = 1_000;
/** Outputs of one tool, and of all together, that are looked at between two writes. */
const MAX_LOOKS = { ofTool: 8, ofAll: 64 };
/** After so many outputs of a tool one is looked at between two writes: its shape is known. */
const MANY_LOOKS = 100;
/** Tools of tenants whose looks are counted. */
const MAX_COUNTED = 5_000;

export function createOutputRecorder(parts: OutputRecorderParts): OutputRecorder {
  const { store, logger, clock = createRunClock() } = parts;
  let learned = new Map<string, LearnedOutput & { looks: number }>();
  let looks = 0;
  /** Looks at each tool since the start of this process, or since too many tools were counted. */
  const total = new Map<string, number>();
  let takeBack: (() => void) | undefined;
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    takeBack?.();
    takeBack = undefined;
    const gathered = [...learned.values()];
    [learned, looks] = [new Map(), 0];
    try {
      await store.learnOutputs(gathered.map(({ looks: _looks, ...each }) => each));
    } catch (error) {
      logger.warn(
        { err: error, tools: gathered.length },
        "shapes of outputs not written; later outputs teach them again",
      );
    }
  }

  /** How often a tool may be looked at until the next write. */
  function allowed(key: string): number {
    return (total.get(key) ?? 0) >= MANY_LOOKS ? 1 : MAX_LOOKS.ofTool;
  }

  function count(key: string): void {
    if (total.size >= MAX_COUNTED) total.clear();
    total.set(key, (total.get(key) ?? 0) + 1);
    looks += 1;
  }

  return {
    note({ tenant, tool, isItem, output }) {
      const facts = tool && factsOf(tool);
      if (!facts || !facts.isOpen || (isItem && facts.isBatch) || looks >= MAX_LOOKS.ofAll) return;
      const { server, name, digest } = facts;
      const key = JSON.stringify([tenant, server, digest]);
      const known = learned.get(key);
      if (known && known.looks >= allowed(key)) return;
      count(key);
      const seen = shapeOfOutput(output);
      const shape = known ? mergeShapes(known.shape, seen) : seen;
      learned.set(key, { tenant, server, tool: name, digest, shape, looks: (known?.looks ?? 0) + 1 });
      takeBack ??= clock.after(WRITE_AFTER_MS, () => {
        writing = write();
      });
    },
    async stop() {
      await writing;
      if (learned.size > 0) await write();
    },
  };
}

/** What is to be known of a tool before one of its outputs is looked at. */
interface ToolFacts {
  server: string;
  name: string;
  digest: string;
  /** Its schema leaves open what it gives. */
  isOpen: boolean;
  /** It serves several items in one call, and then gives something else than for one. */
  isBatch: boolean;
}

/** By descriptor as it was read: all plans judged by one reading of the catalogue share them. */
const factsByTool = new WeakMap<ToolDescriptor, ToolFacts>();

function factsOf(tool: ToolDescriptor): ToolFacts {
  const known = factsByTool.get(tool);
  if (known) return known;
  const facts = {
    server: tool.server ?? "",
    name: bareName(tool),
    digest: toolDigest(tool),
    isOpen: tool.server !== undefined && leavesOpen(tool.outputSchema),
    isBatch: toolContract(tool).contract.batch !== undefined,
  };
  factsByTool.set(tool, facts);
  return facts;
}
