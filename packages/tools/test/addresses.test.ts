import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAddressGuard } from "@planwright/runtime";
import { type CountingToolServer, startCountingToolServer } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createToolClients, parseServers, type ToolClients, type ToolClientsOptions } from "../src/index.ts";

let folder: string;
let tools: CountingToolServer;
let clients: ToolClients | undefined;
let front: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tools-"));
  tools = await startCountingToolServer({ ledgerFile: join(folder, "effects.jsonl") });
});
afterEach(async () => {
  await clients?.close();
  front?.closeAllConnections();
  front?.close();
  await tools.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(
  url: string,
  addresses: NonNullable<ToolClientsOptions["addresses"]>,
): Promise<ToolClients> {
  clients = createToolClients(parseServers({ mcpServers: { counting: { url } } }), { addresses });
  await clients.start();
  return clients;
}

const call = { tool: "set_value", server: "counting", arguments: { value: 1 }, timeoutMs: 5_000 };

/** A resolver that gives one answer after the other and repeats the last one. */
function resolving(...answers: string[]) {
  let asked = 0;
  return (
    _name: string,
    _options: object,
    done: (error: null, found: { address: string; family: number }[]) => void,
  ) => {
    const address = answers[Math.min(asked, answers.length - 1)] ?? "";
    asked += 1;
    setImmediate(() => done(null, [{ address, family: 4 }]));
  };
}

test("a server in our own network is reached, by address and by name", async () => {
  const { port } = new URL(tools.url);
  const byName = await start(
    `http://tools.test:${port}/mcp`,
    createAddressGuard("any", resolving("127.0.0.1")),
  );
  expect(await byName.callTool(call)).toMatchObject({ type: "completed" });
  await byName.close();
  const byAddress = await start(tools.url, createAddressGuard("any"));
  expect(await byAddress.callTool(call)).toMatchObject({ type: "completed" });
});

test.each([
  ["by its address", (port: string) => `http://127.0.0.1:${port}/mcp`],
  ["by its name", (port: string) => `http://localhost:${port}/mcp`],
])("where only public addresses are allowed, no call reaches a server given %s", async (_, urlOf) => {
  const started = await start(urlOf(new URL(tools.url).port), createAddressGuard("public"));
  expect(await started.callTool(call)).toMatchObject({
    type: "failed",
    effect: "none",
    error: {
      code: "ADDRESS_FORBIDDEN",
      retryable: false,
      message: expect.stringContaining("OUTBOUND_ADDRESSES=any"),
    },
  });
  expect(await tools.ledger()).toEqual([]);
});

test("a known server is refused when its name later resolves to the metadata address of the cloud", async () => {
  const { port } = new URL(tools.url);
  // Connections are kept alive. All connections after the first one look the name up again.
  const guard = createAddressGuard(
    "any",
    resolving("127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "169.254.169.254"),
  );
  const started = await start(`http://tools.test:${port}/mcp`, guard);
  const calls = Array.from({ length: 12 }, () =>
    started.callTool({ ...call, arguments: { latencyMs: 300 } }),
  );
  const outcomes = await Promise.all(calls);
  const failures = outcomes.filter((outcome) => outcome.type === "failed");
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures)
    expect(failure).toMatchObject({ effect: "none", error: { code: "ADDRESS_FORBIDDEN" } });
  expect(await tools.ledger()).toHaveLength(outcomes.length - failures.length);
});

test("a server that redirects elsewhere gets no request there", async () => {
  front = createServer((_request, response) => {
    response.writeHead(307, { location: tools.url }).end();
  }).listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  const started = await start(`http://127.0.0.1:${port}/mcp`, createAddressGuard("any"));
  expect(await started.callTool(call)).toMatchObject({ type: "failed", effect: "none" });
  expect(await tools.ledger()).toEqual([]);
});
