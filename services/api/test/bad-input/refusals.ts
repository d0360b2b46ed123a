/** Checks for every refusal. */
import { readFileSync } from "node:fs";
import { type CasePart, testAndProof, testServers } from "@planwright/testing";
import { expect } from "vitest";
import { type ZodType, z } from "zod";
import type { Answer } from "../running-api.ts";

const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d|\bat async|\bat [\w.<>]+ \(|Mongo|BSON|E11000|ioredis|ECONN|ENOENT|stacktrace/;

/** The expected error of a case of a data file. */
export const SaysSchema = {
  name: z.string(),
  code: z.string(),
  /** A pattern that the message must match. */
  says: z.string().optional(),
};
/** The expected refusal over HTTP. */
export const RefusalSchema = { ...SaysSchema, status: z.number().int() };

/** Reads a data file of this folder. */
export function readCases<T>(file: string, schema: ZodType<T>): T {
  const parsed = schema.safeParse(JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")));
  if (!parsed.success) throw new TypeError(`${file}: ${parsed.error.message}`);
  return parsed.data;
}

/**
 * Splits cases: `npm test` runs the first of each kind, `npm run proof` the others.
 * @param kindOf - what else than its code and its message makes a kind
 */
export function firstOfEach<Case extends { name: string; code?: unknown; status?: unknown; says?: unknown }>(
  cases: readonly Case[],
  kindOf: (one: Case) => unknown = () => "",
): CasePart<Case>[] {
  const kinds = new Map<string, string>();
  for (const one of cases) {
    const kind = JSON.stringify([one.code, one.status, one.says, kindOf(one)]);
    if (!kinds.has(kind)) kinds.set(kind, one.name);
  }
  return testAndProof(cases, ({ name }) => name, [...kinds.values()]);
}

/** The JSON of an answer, which may be a stream with one event. */
export function messageOf({ text }: Answer): ReturnType<typeof JSON.parse> {
  const [, data] = /^data: (.*)$/m.exec(text) ?? [];
  return JSON.parse(data ?? text);
}

/**
 * No stack trace, no path and no text of a driver; short, so that the service cannot be used to send much
 * data.
 */
export function expectClean(text: string): void {
  const { mongodbUrl, redisUrl } = testServers();
  expect(text.length).toBeLessThan(50_000);
  expect(text).not.toMatch(INSIDES);
  for (const secret of [process.cwd(), hostOf(mongodbUrl), hostOf(redisUrl)]) {
    expect(text).not.toContain(secret);
  }
}

const hostOf = (url: string) => new URL(url).host;

/** One error with a known code, a message and a remedy, without details of the service's internals. */
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
  expectErrorText({ message: error.message, ...error.extensions }, expected);
}

/** An error with this code, over any protocol, with a readable message and remedy. */
export function expectErrorText(
  { message, remedy, code }: { message?: unknown; remedy?: unknown; code?: unknown },
  expected: { code: string; says?: string | undefined },
): void {
  expect(code).toBe(expected.code);
  expectReadable(message, remedy);
  if (expected.says) expect(message).toMatch(new RegExp(expected.says));
}

/** A message and a remedy that people can read. */
export function expectReadable(message: unknown, remedy: unknown): void {
  for (const said of [message, remedy]) {
    expect(said).toEqual(expect.stringMatching(/\w/));
    expect(said).not.toMatch(/\bundefined\b|\[object /);
  }
}
