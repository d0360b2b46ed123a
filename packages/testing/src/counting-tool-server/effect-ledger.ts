import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { type JsonObject, JsonObjectSchema } from "@planwright/plan";
import { z } from "zod";

/** One line of the ledger: an effect that happened. */
export const LedgerEntrySchema = z.object({
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
