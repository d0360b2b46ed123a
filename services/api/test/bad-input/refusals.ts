/** What must hold for everything that is refused, whatever it was. */
import { readFileSync } from "node:fs";
import { testServers } from "@planwright/testing";
import { expect } from "vitest";
import { type ZodType, z } from "zod";
import type { Answer } from "../running-api.ts";

const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d|\bat async|\bat [\w.<>]+ \(|Mongo|BSON|E11000|ioredis|ECONN|ENOENT|stacktrace/;

/** What an error says, as a case of a data file has it. */
export const SaysSchema = {
  name: z.string(),
  code: z.string(),
  /** The message must fit. */
  says: z.string().optional(),
};
/** What a refusal over HTTP says. */
export const RefusalSchema = { ...SaysSchema, status: z.number().int() };

/** The data file beside this file. */
export function readCases<T>(file: string, schema: ZodType<T>): T {
  const parsed = schema.safeParse(JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")));
  if (!parsed.success) throw new TypeError(`${file}: ${parsed.error.message}`);
  return parsed.data;
}

/** The JSON of an answer, which may be a stream of one event. */
export function messageOf({ text }: Answer): ReturnType<typeof JSON.parse> {
  const [, data] = /^data: (.*)$/m.exec(text) ?? [];
  return JSON.parse(data ?? text);
}

/** No stack, no path and no word of a driver; short enough not to be a way to make the service send much. */
export function expectClean(text: string): void {
  const { mongodbUrl, redisUrl } = testServers();
  expect(text.length).toBeLessThan(50_000);
  expect(text).not.toMatch(INSIDES);
  for (const secret of [process.cwd(), hostOf(mongodbUrl), hostOf(redisUrl)]) {
    expect(text).not.toContain(secret);
  }
}

const hostOf = (url: string) => new URL(url).host;

/** One error of a closed code, with a message and what to do; nothing of the service's insides. */
export function expectRefusal(
  { status, text, body }: Pick<Answer, "status" | "text" | "body">,
  expected: { status: number; code: string; says?: string | undefined },
): void {
  expectClean(text);
  const error = body?.errors?.[0];
  expect({ status, code: error?.extensions?.code, text }).toEqual({
    status: expected.status,
    code: expected.code,
    text,
  });
  expectSays({ message: error.message, ...error.extensions }, expected);
}

/** An error of this code, whatever carried it, with a message and a remedy that people can read. */
export function expectSays(
  { message, remedy, code }: { message?: unknown; remedy?: unknown; code?: unknown },
  expected: { code: string; says?: string | undefined },
): void {
  expect(code).toBe(expected.code);
  expectSpeaks(message, remedy);
  if (expected.says) expect(message).toMatch(new RegExp(expected.says));
}

/** A message and a remedy that people can read. */
export function expectSpeaks(message: unknown, remedy: unknown): void {
  for (const said of [message, remedy]) {
    expect(said).toEqual(expect.stringMatching(/\w/));
    expect(said).not.toMatch(/\bundefined\b|\[object /);
  }
}
