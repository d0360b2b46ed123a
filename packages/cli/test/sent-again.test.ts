/** Which operations `planwright` sends again when the answer of the API is lost. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { planwright } from "./planwright.ts";

const ID = "req_1700000000_abcdefghijklmnopqrst";
const ACCEPTED = {
  requestId: ID,
  planId: "plan_1",
  status: "EXECUTING",
  version: 2,
  plan: { status: "QUEUED" },
};
const BodySchema = z.object({ query: z.string(), variables: z.looseObject({ key: z.string().optional() }) });

/** An API that loses the answers of the first `lost` mutations; `sent` has everything that it received. */
async function losingApi(lost: number) {
  const sent: z.infer<typeof BodySchema>[] = [];
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = BodySchema.parse(await json(request));
    sent.push(body);
    if (sent.length <= lost) return void response.destroy();
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ data: { accepted: ACCEPTED } }));
  }
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` };
}

test("a retry whose answer is lost is sent again with the same key, and each invocation has another key", async () => {
  const { sent, url } = await losingApi(2);
  const first = await planwright(["retry", ID, "--url", url]);
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("version 2 of the plan") });
  expect((await planwright(["retry", ID, "--url", url])).exitCode).toBe(0);
  const keys = sent.map(({ variables }) => variables.key);
  expect(keys).toHaveLength(4);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(new Set(keys).size).toBe(2);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});

test("a replan whose answer is lost is sent again with the same key", async () => {
  const { sent, url } = await losingApi(1);
  await planwright(["replan", ID, "--url", url]);
  const replans = sent.filter(({ query }) => query.includes("replan("));
  expect(replans).toHaveLength(2);
  expect(new Set(replans.map(({ variables }) => variables.key)).size).toBe(1);
});

test("an operation without a key is not sent again when its answer is lost", async () => {
  const { sent, url } = await losingApi(1);
  const { exitCode, stderr } = await planwright(["resolve", ID, "pay", "--failed", "no", "--url", url]);
  expect([exitCode, sent.length]).toEqual([expect.any(Number), 1]);
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("does not answer");
});
