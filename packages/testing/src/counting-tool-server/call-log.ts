import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type JsonObject, JsonObjectSchema } from "@planwright/plan";
import { z } from "zod";

/** How the tool answered: with a result, with an error, or not at all. */
const AnswerSchema = z.enum(["result", "error", "nothing"]);

const LineSchema = z.union([
  z.object({
    came: z.string(),
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

/** One call of a tool, as the tool saw it. */
export interface LoggedCall {
  tool: string;
  /** Idempotency key; null when it had none. */
  key: string | null;
  arguments: JsonObject;
  /** When it came, in Unix milliseconds. */
  at: number;
  /**
   * Null while the call is under way, and for good when the tool died over it. Not every answer reaches its
   * caller.
   */
  answer: z.output<typeof AnswerSchema> | null;
  /** Null without an answer. */
  endedAt: number | null;
  /** Of a call that was answered with a result. */
  output: JsonObject | null;
}

/** Writes down each call and its answer, whether it has an effect or not. */
export interface CallLog {
  /** Logs a call. Returns a function that logs its answer. */
  came(call: Pick<LoggedCall, "tool" | "key" | "arguments">): CallEnd;
}
/** Tells how a call was answered, before the answer is sent. */
export type CallEnd = (answer: z.output<typeof AnswerSchema>, output?: JsonObject) => void;

/**
 * A log in this file. A line is passed to the operating system before the call continues, so that it survives
 * this process.
 */
export function openCallLog(file: string): CallLog {
  let last = 0;
  const write = (line: z.input<typeof LineSchema>): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    came: ({ tool, key, arguments: args }) => {
      last += 1;
      const id = `${process.pid}:${last}`;
      write({ came: id, at: Date.now(), tool, key, arguments: args });
      return (answer, output) => write({ ended: id, at: Date.now(), answer, output: output ?? null });
    },
  };
}

/** No log. */
export const NO_CALL_LOG: CallLog = { came: () => () => undefined };

/** Every call in a log, in the order in which they came; none when there is no such file. */
export async function readCallLog(file: string): Promise<LoggedCall[]> {
  const calls = new Map<string, LoggedCall>();
  for (const text of (await readText(file)).split("\n").filter((line) => line !== "")) {
    const line = LineSchema.parse(JSON.parse(text));
    if ("came" in line) {
      const { tool, key, arguments: args, at } = line;
      calls.set(line.came, { tool, key, arguments: args, at, answer: null, endedAt: null, output: null });
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
