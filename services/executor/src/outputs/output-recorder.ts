/**
 * Learns the shapes of outputs from the outputs of calls. It never delays a plan: it examines an output after
 * the result is on its way to MongoDB, only a few outputs of each tool a second, and writes the shapes of all
 * tools together. Shapes that a crash or a failed write loses are learned again from later outputs.
 */
import {
  bareName,
  type HeldJson,
  leavesOpen,
  mergeShapes,
  type OutputShape,
  shapeOfOutput,
  type ToolDescriptor,
  toolContract,
  toolDigest,
  valueOfHeld,
} from "@planwright/plan";
import { createRunClock, type Logger, type RunClock } from "@planwright/runtime";
import type { ExecutionStore, LearnedOutput } from "@planwright/store";

/** Dependencies of {@link createOutputRecorder}. */
interface OutputRecorderParts {
  store: Pick<ExecutionStore, "learnOutputs">;
  logger: Logger;
  /** Default: the clock of the platform. */
  clock?: Pick<RunClock, "after"> | undefined;
}

/** The output of a call. */
export interface SeenOutput {
  tenant: string;
  /** The tool that was called; undefined when it is no longer known. */
  tool: ToolDescriptor | undefined;
  /** True for an item of a forEach, or several items. */
  isItem: boolean;
  output: HeldJson;
  /** The shape of a large output, which is not parsed for it. */
  shape?: OutputShape | undefined;
}

/** Learns the shapes of outputs. */
export interface OutputRecorder {
  /**
   * Examines an output, unless enough outputs of its tool were examined. Never throws, whatever the output
   * contains, and keeps no values.
   */
  note(seen: SeenOutput): void;
  /** Writes the shapes that are not written yet. */
  stop(): Promise<void>;
}

/** How long shapes are collected before they are written, in milliseconds. */
const WRITE_AFTER_MS = 1_000;
/** Most outputs of one tool, and of all tools, that are examined between two writes. */
const MAX_LOOKS = { ofTool: 8, ofAll: 64 };
/**
 * After this many outputs the shape of a tool is known, and only one output is examined between two writes.
 */
const MANY_LOOKS = 100;
/** Most tools (per tenant) whose looks are counted. */
const MAX_COUNTED = 5_000;

/** A recorder that has examined nothing yet. */
export function createOutputRecorder(parts: OutputRecorderParts): OutputRecorder {
  const { store, logger, clock = createRunClock() } = parts;
  let learned = new Map<string, LearnedOutput & { looks: number }>();
  let looks = 0;
  /** Examined outputs of each tool since this process started, or since too many tools were counted. */
  const total = new Map<string, number>();
  let cancel: (() => void) | undefined;
  let writing = Promise.resolve();

  async function write(gathered: readonly LearnedOutput[]): Promise<void> {
    try {
      await store.learnOutputs(gathered);
    } catch (error) {
      logger.warn(
        { err: error, tools: gathered.length },
        "shapes of outputs not written; they are learned again from later outputs",
      );
    }
  }

  function writeLearned(): void {
    cancel?.();
    cancel = undefined;
    const gathered = [...learned.values()].map(({ looks: _looks, ...each }) => each);
    [learned, looks] = [new Map(), 0];
    writing = writing.then(() => write(gathered));
  }

  /** How many outputs of a tool may be examined until the next write. */
  function allowed(key: string): number {
    return (total.get(key) ?? 0) >= MANY_LOOKS ? 1 : MAX_LOOKS.ofTool;
  }

  function count(key: string): void {
    if (total.size >= MAX_COUNTED) total.clear();
    total.set(key, (total.get(key) ?? 0) + 1);
    looks += 1;
  }

  return {
    note({ tenant, tool, isItem, output, shape: known }) {
      const facts = tool && factsOf(tool);
      if (!facts || !facts.isOpen || (isItem && facts.isBatch) || looks >= MAX_LOOKS.ofAll) return;
      const { server, name, digest } = facts;
      const key = JSON.stringify([tenant, server, digest]);
      const before = learned.get(key);
      if (before && before.looks >= allowed(key)) return;
      count(key);
      const seen = known ?? shapeOfOutput(valueOfHeld(output));
      const shape = before ? mergeShapes(before.shape, seen) : seen;
      learned.set(key, { tenant, server, tool: name, digest, shape, looks: (before?.looks ?? 0) + 1 });
      cancel ??= clock.after(WRITE_AFTER_MS, writeLearned);
    },
    async stop() {
      if (learned.size > 0) writeLearned();
      await writing;
    },
  };
}

/** Facts about a tool that decide whether its outputs are examined. */
interface ToolFacts {
  server: string;
  name: string;
  digest: string;
  /** Its schema does not fully describe the output. */
  isOpen: boolean;
  /** It serves several items in one call, and then returns another shape than for one item. */
  isBatch: boolean;
}

/** Keyed by descriptor object: all plans that use the same reading of the catalogue share these facts. */
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
