/** `planwright call`: one call by hand, over a running system. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type System, startSystem } from "@planwright/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { planwright, startProcess } from "./planwright.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

const call = (...words: string[]) =>
  planwright(["call", ...words], { env: { PLANWRIGHT_URL: system.apiUrl } });

async function countRequests(): Promise<number> {
  const body = JSON.stringify({ query: "{ requests(first: 100) { nodes { requestId } } }" });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(system.apiUrl, { method: "POST", headers, body });
  const { data } = (await answer.json()) as { data: { requests: { nodes: unknown[] } } };
  return data.requests.nodes.length;
}

test("a read is called at once, and shows contract, duration, output and its shape", async () => {
  const { exitCode, stdout } = await call("read_value", '{"value": 7}');
  expect(stdout).toMatch(/^read_value {2}of server counting\n\nEffect\n {2}R {2}reads/);
  expect(stdout).toMatch(/\n\nContract\n(?: {2}.*\n)*? {2}sideEffects +false /);
  expect(stdout).toMatch(/\n✔ call \(read_value\) {2}[\d.]+ m?s\n/);
  expect(stdout).toMatch(/\nOutput\n {2}\{\n(?:.*\n)*? {4}"value": 7/);
  expect(stdout).toMatch(/\nShape\n(?: {2}.*\n)*? {2}value {2}integer\n/);
  expect(exitCode).toBe(0);
});

test("a call with side effects needs --yes without a terminal, and is made once with it", async () => {
  const before = (await system.tools.ledger()).length;
  const refused = await call("keyed_effect", '{"value": 41}');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
  expect(await system.tools.ledger()).toHaveLength(before);
  const done = await call("keyed_effect", '{"value": 41}', "--yes", "--json");
  expect(JSON.parse(done.stdout)).toMatchObject({
    exitCode: 0,
    status: "COMPLETED",
    effect: "done",
    contract: { idempotency: "key" },
    shape: { type: "object" },
  });
  expect(await system.tools.ledger()).toHaveLength(before + 1);
});

test("a call whose acceptance is not answered is sent again, and made once", async () => {
  let lost = 0;
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(system.apiUrl, { method: "POST", headers, body });
    const isFirst = body.includes("submitPlan(") && lost++ === 0;
    if (isFirst) response.destroy();
    else response.writeHead(answer.status, headers).end(await answer.text());
  };
  const losing = createServer((request, response) => void pass(request, response));
  await once(losing.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void losing.close());
  const before = await countRequests();
  const url = `http://127.0.0.1:${(losing.address() as AddressInfo).port}/graphql`;
  // The first answer only: this server passes no stream, so the request is not followed to its end.
  await planwright(["call", "keyed_effect", '{"value": 44}', "--yes", "--timeout", "5"], {
    env: { PLANWRIGHT_URL: url },
  });
  expect(lost).toBeGreaterThan(1);
  expect(await countRequests()).toBe(before + 1);
});

test("on a terminal a person is asked, and a no calls nothing", async () => {
  const before = (await system.tools.ledger()).length;
  const running = startProcess(["call", "keyed_effect", '{"value": 42}'], {
    env: { PLANWRIGHT_URL: system.apiUrl },
    isTerminal: true,
  });
  await running.said("which has side effects?");
  running.type("n");
  expect(await running.ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Nothing was") });
  expect(await system.tools.ledger()).toHaveLength(before);
});

test("a failed call says whether it may have acted", async () => {
  system.tools.script({ plain_effect: [{ type: "tool-error" }] });
  const { exitCode, stdout } = await call("plain_effect", '{"value": 43}', "--yes");
  expect(stdout).toMatch(/✖ call \(plain_effect\) .*may have acted/);
  expect(exitCode).toBe(1);
});

test("wrong arguments are refused before anything is called, and an unknown tool is named", async () => {
  const wrong = await call("read_value", '{"latencyMs": "soon"}');
  expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("latencyMs") });
  expect(await call("read_values")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("No tool is named read_values"),
  });
});
