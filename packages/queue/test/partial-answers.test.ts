import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  createPartialAnswerReader,
  createPartialAnswerWriter,
  MAX_PARTIAL_ANSWER,
  type PartialAnswerReader,
  type PartialAnswerWriter,
} from "../src/index.ts";

function open(
  redisUrl = testServers().redisUrl,
  shownText = (text: string) => text,
): { writer: PartialAnswerWriter; reader: PartialAnswerReader; prefix: string } {
  const prefix = testServers().redisPrefix;
  const writer = createPartialAnswerWriter({ redisUrl, prefix }, shownText);
  const reader = createPartialAnswerReader({ redisUrl, prefix });
  onTestFinished(() => {
    writer.close();
    reader.close();
  });
  return { writer, reader, prefix };
}

/** Texts arrive until one of them is read. */
async function firstShown(
  { writer, reader }: ReturnType<typeof open>,
  callId: string,
  text: string,
): Promise<string> {
  const answer = writer.open(callId);
  return vi.waitUntil(
    async () => {
      answer.arrived(text);
      return reader.read(callId);
    },
    { timeout: 30_000 },
  );
}

test("the text that has arrived of an answer is read by call, as it is to be shown", async () => {
  const opened = open(undefined, (text) => text.toUpperCase());
  expect(await firstShown(opened, "one", "the beginning")).toBe("THE BEGINNING");
  expect(await opened.reader.read("another")).toBeNull();
});

test("of a long answer the beginning is shown", async () => {
  expect(await firstShown(open(), "one", "x".repeat(MAX_PARTIAL_ANSWER + 1))).toBe(
    "x".repeat(MAX_PARTIAL_ANSWER),
  );
});

test("text that arrives in many pieces is written a few times a second, and prepared no more often", async () => {
  let prepared = 0;
  const opened = open(undefined, (text) => {
    prepared += 1;
    return text;
  });
  await firstShown(opened, "one", "first");
  prepared = 0;
  const answer = opened.writer.open("two");
  for (let piece = 0; piece < 10_000; piece += 1) answer.arrived(`text ${piece}`);
  expect(prepared).toBe(1);
  await expect.poll(() => opened.reader.read("two")).toBe("text 0");
  await vi.waitUntil(() => {
    answer.arrived("later text");
    return prepared === 2;
  });
  await expect.poll(() => opened.reader.read("two")).toBe("later text");
});

test("a partial answer expires by itself", async () => {
  const opened = open();
  await firstShown(opened, "one", "text");
  const client = new Redis(testServers().redisUrl);
  onTestFinished(() => client.disconnect());
  const [key = ""] = await client.keys(`${opened.prefix}:*`);
  const ttlMs = await client.pttl(key);
  expect(ttlMs).toBeGreaterThan(0);
  expect(ttlMs).toBeLessThanOrEqual(60_000);
});

test("without Redis nothing fails: nothing is shown", async () => {
  const { writer, reader } = open("redis://127.0.0.1:1");
  writer.open("one").arrived("text");
  expect(await reader.read("one")).toBeNull();
});
