import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { type JsonObject, JsonObjectSchema } from "@planwright/plan";
import { z } from "zod";

/** One line of the ledger: an effect that happened. */
const LedgerEntrySchema = z.object({
  tool: z.string(),
  /** Idempotency key of the call; null when it had none. */
  key: z.string().nullable(),
  /** `_meta` of the call, without the fields of the protocol. */
  meta: JsonObjectSchema,
  arguments: JsonObjectSchema,
  /** SHA-256 of the received arguments, which shows a retry with changed arguments. */
  argsHash: z.string(),
  /** Number of the effect in the ledger, from 1. */
  effect: z.number().int(),
  /** Unix milliseconds. */
  at: z.number(),
});
export type LedgerEntry = z.output<typeof LedgerEntrySchema>;

/** Appends effects to a file. Each is on disk when `append` returns. Concurrent effects share one fsync. */
export interface EffectLedger {
  /** Effects that the file contained when it was opened. */
  readonly found: readonly LedgerEntry[];
  append(effect: {
    tool: string;
    key: string | null;
    meta: JsonObject;
    arguments: JsonObject;
  }): Promise<LedgerEntry>;
  close(): Promise<void>;
}

/** Opens or creates the ledger. A last line that a crash cut off was never answered, so it is dropped. */
export async function openEffectLedger(file: string): Promise<EffectLedger> {
  const handle = await open(file, "a+");
  const text = await readFile(file, "utf8");
  const found = parseLines(text);
  if (text !== "" && !text.endsWith("\n")) await handle.truncate(Buffer.byteLength(completeLines(text)));
  const writer = createGroupWriter(handle);
  let last = found.at(-1)?.effect ?? 0;
  return {
    found,
    append: async ({ tool, key, meta, arguments: args }) => {
      const argsHash = createHash("sha256").update(JSON.stringify(args)).digest("hex");
      last += 1;
      const entry = { tool, key, meta, arguments: args, argsHash, effect: last, at: Date.now() };
      await writer.write(`${JSON.stringify(entry)}\n`);
      return entry;
    },
    close: async () => {
      await writer.idle();
      await handle.close();
    },
  };
}

/** All effects in a ledger file, oldest first; none when the file does not exist. */
export async function readLedger(file: string): Promise<LedgerEntry[]> {
  try {
    return parseLines(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function parseLines(text: string): LedgerEntry[] {
  const lines = completeLines(text).split("\n").slice(0, -1);
  return lines.map((line) => LedgerEntrySchema.parse(JSON.parse(line)));
}

function completeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The next group of lines collects while the current one is being written. */
function createGroupWriter(handle: FileHandle): {
  write(line: string): Promise<void>;
  idle(): Promise<void>;
} {
  let lines: string[] = [];
  let group: Promise<void> | undefined;
  let writing: Promise<void> = Promise.resolve();
  const flush = async () => {
    await writing;
    const text = lines.join("");
    lines = [];
    group = undefined;
    writing = handle.appendFile(text).then(() => handle.datasync());
    await writing;
  };
  return {
    write: (line) => {
      lines.push(line);
      group ??= flush();
      return group;
    },
    idle: async () => {
      await group;
      await writing;
    },
  };
}

/** The tool's answer: a result, an error, or none. */
const AnswerSchema = z.enum(["result", "error", "nothing"]);

const LineSchema = z.union([
  z.object({
    received: z.string(),
    at: z.number(),
    tool: z.string(),
    key: z.string().nullable(),
    arguments: JsonObjectSchema,
  }),
  z.object({
    ended: z.string(),
    at: z.number(),
    answer: AnswerSchema,
    output: JsonObjectSchema.nullable(),
  }),
]);

/** One call of a tool, as the tool received it. */
export interface LoggedCall {
  tool: string;
  /** Idempotency key; null when the call had none. */
  key: string | null;
  arguments: JsonObject;
  /** When it arrived, in Unix milliseconds. */
  at: number;
  /**
   * Null while the call is running, and forever when the tool ended during the call. An answer may not reach
   * its caller.
   */
  answer: z.output<typeof AnswerSchema> | null;
  /** Null without an answer. */
  endedAt: number | null;
  /** The output of a call with a result. */
  output: JsonObject | null;
}

/** Logs each call and its answer, with and without effects. */
export interface CallLog {
  /** Logs a call. Returns a function that logs its answer. */
  received(call: Pick<LoggedCall, "tool" | "key" | "arguments">): CallEnd;
}
/** Logs the answer of a call before the answer is sent. */
type CallEnd = (answer: z.output<typeof AnswerSchema>, output?: JsonObject) => void;

/**
 * Opens a log in this file. A line is passed to the operating system before the call continues, so that it
 * survives this process.
 */
export function openCallLog(file: string): CallLog {
  let last = 0;
  const write = (line: z.input<typeof LineSchema>): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    received: ({ tool, key, arguments: args }) => {
      last += 1;
      const id = `${process.pid}:${last}`;
      write({ received: id, at: Date.now(), tool, key, arguments: args });
      return (answer, output) => write({ ended: id, at: Date.now(), answer, output: output ?? null });
    },
  };
}

/** No log. */
export const NO_CALL_LOG: CallLog = { received: () => () => undefined };

/** All calls in a log, in the order of their arrival; none when the file does not exist. */
export async function readCallLog(file: string): Promise<LoggedCall[]> {
  const calls = new Map<string, LoggedCall>();
  for (const text of (await readText(file)).split("\n").filter((line) => line !== "")) {
    const line = LineSchema.parse(JSON.parse(text));
    if ("received" in line) {
      const { tool, key, arguments: args, at } = line;
      calls.set(line.received, { tool, key, arguments: args, at, answer: null, endedAt: null, output: null });
    } else {
      const { answer, at, output } = line;
      Object.assign(calls.get(line.ended) ?? {}, { answer, endedAt: at, output });
    }
  }
  return [...calls.values()];
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
