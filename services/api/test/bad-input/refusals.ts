/** What must hold for everything that is refused, whatever it was. */
import { readFileSync } from "node:fs";
import { testServers } from "@planwright/testing";
import { expect } from "vitest";
import type { ZodType } from "zod";
import type { Answer, RunningApi } from "../running-api.ts";

/** A second is promised; a machine with much else to do may take more. */
const ANSWERED_WITHIN_MS = 5_000;
const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d|\bat async|\bat [\w.<>]+ \(|Mongo|BSON|E11000|ioredis|ECONN|ENOENT|stacktrace/;

let slowest = { name: "nothing", ms: 0 };

/** The data file beside this file. */
export function readCases<T>(file: string, schema: ZodType<T>): T {
  const parsed = schema.safeParse(JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")));
  if (!parsed.success) throw new TypeError(`${file}: ${parsed.error.message}`);
  return parsed.data;
}

/** Measures, and keeps the slowest. */
export async function timed<T>(name: string, run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  const ms = performance.now() - startedAt;
  if (ms > slowest.ms) slowest = { name, ms };
  expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
  return result;
}

/** The slowest answer of this file. */
export function slowestAnswer(): string {
  return `slowest: ${Math.round(slowest.ms)} ms, ${slowest.name}`;
}

/** No stack, no path and no word of a driver; short enough not to be a way to make the service send much. */
export function expectClean(text: string): void {
  const { mongodbUrl, redisUrl } = testServers();
  expect(text.length).toBeLessThan(50_000);
  expect(text).not.toMatch(INSIDES);
  for (const secret of [process.cwd(), mongodbUrl, redisUrl]) expect(text).not.toContain(secret);
}

/** What a refusal says. */
export interface Refusal {
  status: number;
  code: string;
  /** The message must fit. */
  says?: string | undefined;
}

/** One error of a closed code, with a message and what to do; nothing of the service's insides. */
export function expectRefusal({ status, text, body }: Answer, expected: Refusal): void {
  expectClean(text);
  const error = body?.errors?.[0];
  expect({ status, code: error?.extensions?.code, text }).toEqual({
    status: expected.status,
    code: expected.code,
    text,
  });
  expectSpeaks(error.message, error.extensions.remedy);
  if (expected.says) expect(error.message).toMatch(new RegExp(expected.says));
}

/** A message and a remedy that people can read. */
export function expectSpeaks(message: unknown, remedy: unknown): void {
  for (const said of [message, remedy]) {
    expect(said).toEqual(expect.stringMatching(/\w/));
    expect(said).not.toMatch(/\bundefined\b|\[object /);
  }
}

/** What a refused request must not change: the newest request, and what was offered to the queues. */
export async function traces({ store, offered }: RunningApi): Promise<unknown> {
  const { items } = await store.listRequests("default", { first: 1 });
  return { newest: items[0]?._id, offered: offered.length };
}

/** The next good request is answered, and nothing was a surprise to the service. */
export async function expectWell(running: RunningApi, headers: Record<string, string> = {}): Promise<void> {
  const answer = await running.graphql("{ __typename }", {}, headers);
  expect(answer.body).toEqual({ data: { __typename: "Query" } });
  expect(running.logged).toEqual([]);
}
