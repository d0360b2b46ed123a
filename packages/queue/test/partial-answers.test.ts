import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createLocalQueues,
  createQueues,
  MAX_PARTIAL_ANSWER,
  type PartialAnswerReader,
  type PartialAnswerWriter,
  type Queues,
} from "../src/index.ts";

function open(
  queues: Queues,
  shownText = (text: string) => text,
): { writer: PartialAnswerWriter; reader: PartialAnswerReader } {
  const writer = queues.openPartialAnswerWriter(shownText);
  const reader = queues.openPartialAnswerReader();
  onTestFinished(async () => {
    writer.close();
    reader.close();
    await queues.close();
  });
  return { writer, reader };
}

function inRedis(redisUrl = testServers().redisUrl): Queues {
  return createQueues({ redisUrl, prefix: testServers().redisPrefix });
}

/** Waits until the connections are open: what is written before that is lost, as while Redis is away. */
async function untilConnected({ writer, reader }: ReturnType<typeof open>): Promise<void> {
  const answer = writer.open("first");
  await vi.waitUntil(
    async () => {
      answer.arrived("text");
      return (await reader.read("first")) !== null;
    },
    { timeout: 30_000 },
  );
}

describe.each<[string, () => Queues]>([
  ["in Redis", inRedis],
  ["in memory", () => createLocalQueues()],
])("partial answers %s", (_, queues) => {
  test("the text that has arrived of an answer is read by call, as it is to be shown", async () => {
    const opened = open(queues(), (text) => text.toUpperCase());
    await untilConnected(opened);
    const { writer, reader } = opened;
    writer.open("one").arrived("the beginning");
    await expect.poll(() => reader.read("one")).toBe("THE BEGINNING");
    expect(await reader.read("another")).toBeNull();
  });

  test("of a long answer the beginning is shown", async () => {
    const opened = open(queues());
    await untilConnected(opened);
    const { writer, reader } = opened;
    writer.open("one").arrived("x".repeat(MAX_PARTIAL_ANSWER + 1));
    await expect.poll(() => reader.read("one")).toBe("x".repeat(MAX_PARTIAL_ANSWER));
  });

  test("of text that arrives in many pieces, a few are prepared and written, and the last one is", async () => {
    let prepared = 0;
    const opened = open(queues(), (text) => {
      if (text.startsWith("piece")) prepared += 1;
      return text;
    });
    await untilConnected(opened);
    const { writer, reader } = opened;
    const answer = writer.open("one");
    for (let piece = 0; piece < 10_000; piece += 1) answer.arrived(`piece ${piece}`);
    await expect.poll(() => reader.read("one")).toBe("piece 9999");
    expect(prepared).toBe(2);
    answer.arrived("later text");
    await expect.poll(() => reader.read("one")).toBe("later text");
  });
});

test("a partial answer expires by itself", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  await untilConnected(open(createQueues({ redisUrl, prefix })));
  const client = new Redis(testServers().redisUrl);
  onTestFinished(() => client.disconnect());
  const [key = ""] = await client.keys(`${prefix}:answer:*`);
  const ttlMs = await client.pttl(key);
  expect(ttlMs).toBeGreaterThan(0);
  expect(ttlMs).toBeLessThanOrEqual(60_000);
});

test("without Redis nothing fails: nothing is shown", async () => {
  const { writer, reader } = open(inRedis("redis://127.0.0.1:1"));
  writer.open("one").arrived("text");
  expect(await reader.read("one")).toBeNull();
});
