import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { type JsonObject, JsonObjectSchema } from "@planwright/plan";
import { z } from "zod";

/** One line of the ledger: an effect that happened. */
export const LedgerEntrySchema = z.object({
  tool: z.string(),
  /** Idempotency key of the call; null when it had none. */
  key: z.string().nullable(),
  /** `_meta` of the call, without what the protocol puts there. */
  meta: JsonObjectSchema,
  arguments: JsonObjectSchema,
  /** SHA-256 of the arguments as they came, byte by byte: a retry that changes them shows. */
  argsHash: z.string(),
  /** Counted from 1 over the life of the ledger. */
  effect: z.number().int(),
  /** Unix milliseconds. */
  at: z.number(),
});
export type LedgerEntry = z.output<typeof LedgerEntrySchema>;

/** Appends effects to a file; each is on the disk when `append` returns. Concurrent ones share one fsync. */
export interface EffectLedger {
  /** Effects that were in the file when it was opened. */
  readonly found: readonly LedgerEntry[];
  append(effect: {
    tool: string;
    key: string | null;
    meta: JsonObject;
    arguments: JsonObject;
  }): Promise<LedgerEntry>;
  close(): Promise<void>;
}

/** Opens the ledger, or begins it. A last line cut off by a crash was never answered; it is dropped. */
export async function openEffectLedger(file: string): Promise<EffectLedger> {
  const handle = await open(file, "a+");
  const text = await readFile(file, "utf8");
  const found = parseLines(text);
  if (text !== "" && !text.endsWith("\n")) await handle.truncate(Buffer.byteLength(wholeLines(text)));
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

/** Every effect in a ledger file, oldest first; none when there is no such file. */
export async function readLedger(file: string): Promise<LedgerEntry[]> {
  try {
    return parseLines(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function parseLines(text: string): LedgerEntry[] {
  const lines = wholeLines(text).split("\n").slice(0, -1);
  return lines.map((line) => LedgerEntrySchema.parse(JSON.parse(line)));
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The next group collects while one is being written. */
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
