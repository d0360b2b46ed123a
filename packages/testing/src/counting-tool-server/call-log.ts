import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type JsonObject, JsonObjectSchema } from "@planwright/plan";
import { z } from "zod";

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
export type CallEnd = (answer: z.output<typeof AnswerSchema>, output?: JsonObject) => void;

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
