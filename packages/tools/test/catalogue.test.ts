import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import {
  createToolClients,
  parseServers,
  type ServerCatalogue,
  type ServerStatus,
  type ToolClients,
  type ToolClientsOptions,
} from "../src/index.ts";
import { type ChangingServer, plainTool, startChangingServer } from "./changing-server.ts";

const servers: ChangingServer[] = [];
let clients: ToolClients;
let catalogues: ServerCatalogue[];
let warnings: string[];

async function start(options: ToolClientsOptions, ...lists: object[][]): Promise<ChangingServer[]> {
  catalogues = [];
  warnings = [];
  for (const list of lists) servers.push(await startChangingServer(list));
  const entries = servers.map(({ url }, index) => [`s${index}`, { url }]);
  const log = (_facts: object, message: string) => void warnings.push(message);
  clients = createToolClients(parseServers({ mcpServers: Object.fromEntries(entries) }), {
    logger: { debug: () => {}, info: () => {}, warn: log },
    onCatalogue: (catalogue) => void catalogues.push(catalogue),
    ...options,
  });
  return servers;
}
afterEach(async () => {
  await clients.close();
  for (const server of servers.splice(0)) await server.close();
});

/** For tests that are not about a timeout, on a busy machine. */
const UNHURRIED = { connectTimeoutMs: 60_000, startTimeoutMs: 60_000 };

const names = () => clients.catalogue().map((tool) => tool.name);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => plainTool(`t${index}`));

test("all pages of a catalogue are read", async () => {
  const [server] = await start({}, numbered(250));
  await clients.start();
  expect(names()).toHaveLength(250);
  expect(server?.pagesServed).toBe(3);
});

test("tools of a catalogue above the limit are left out, and no further page is requested", async () => {
  const [server] = await start({ maxTools: 120 }, numbered(5_000));
  await clients.start();
  expect(names()).toHaveLength(120);
  expect(server?.pagesServed).toBe(2);
  expect(warnings).toEqual(["listed tools are left out"]);
  const [status] = clients.status();
  expect(status).toMatchObject({ leftOutCount: 81 });
  expect(status?.leftOut?.at(0)).toMatchObject({
    tool: "t120",
    reason: expect.stringContaining("at most 120"),
  });
  expect(status?.leftOut?.at(-1)?.reason).toBe("only the first 200 entries of the list are read");
});

test("the list of a server with endless pages is read up to a limit, and the rest counts as left out", async () => {
  // A hundred requests one after the other: on a busy machine they take longer than the usual connect
  // timeout.
  const [server] = await start(UNHURRIED, numbered(500));
  server!.pageSize = 1;
  await clients.start();
  expect(names()).toHaveLength(100);
  expect(clients.status()[0]?.leftOut).toEqual([
    { server: "s0", tool: null, reason: "only the first 100 entries of the list are read" },
  ]);
});

test.each([
  { name: "does not answer with its list", pageLatencyMs: 60_000 },
  { name: "is slow with each of many pages", pageLatencyMs: 100 },
])("a server that $name delays no caller for longer than the connect timeout", async ({ pageLatencyMs }) => {
  const [slow] = await start({ connectTimeoutMs: 4_000 }, numbered(90), numbered(3));
  Object.assign(slow!, { pageSize: 1, pageLatencyMs });
  await clients.start();
  expect(names()).toEqual(["t0", "t1", "t2"]);
  expect(slow?.pagesServed).toBeLessThan(90);
  expect(clients.status()).toMatchObject([
    { server: "s0", state: "waiting", error: expect.any(String) },
    { server: "s1", state: "connected" },
  ]);
});

test("tools that are left out are in the state of the server, and each change of them is reported once", async () => {
  const reported: ServerStatus[] = [];
  const onStatus = (status: ServerStatus) => void reported.push(status);
  const [server] = await start({ refreshMs: 20, onStatus }, [
    plainTool("good"),
    plainTool("huge", { title: "x".repeat(70_000) }),
    plainTool("also_good"),
  ]);
  await clients.start();
  expect(names()).toEqual(["good", "also_good"]);
  const reason = expect.stringMatching(/^its descriptor has 70\d{3} bytes/);
  const huge = { server: "s0", tool: "huge", reason };
  expect(clients.status()).toMatchObject([{ state: "connected", leftOut: [huge], leftOutCount: 1 }]);
  const call = { tool: "huge", server: "s0", arguments: {}, timeoutMs: 5_000 };
  expect(await clients.callTool(call)).toMatchObject({
    effect: "none",
    error: {
      code: "TOOL_NOT_FOUND",
      message: expect.stringContaining(
        "no tool huge on server s0: it is listed, but it was left out because its",
      ),
    },
  });
  const pages = server!.pagesServed;
  await expect.poll(() => server!.pagesServed).toBeGreaterThan(pages + 3);
  expect(warnings).toEqual(["listed tools are left out"]);
  reported.length = 0;
  server!.tools = [plainTool("good"), plainTool("huge"), plainTool("also_good")];
  await expect.poll(() => reported).toMatchObject([{ leftOut: [], leftOutCount: 0, tools: 3 }]);
});

test("a server over HTTP that is reloaded is listed again", async () => {
  const [server] = await start({ refreshMs: 600_000 }, [plainTool("a")]);
  await clients.start();
  server!.tools = [plainTool("b")];
  expect(await clients.reload("s0")).toEqual({ type: "reloaded" });
  expect(names()).toEqual(["b"]);
  const call = { tool: "b", arguments: {}, timeoutMs: 5_000 };
  expect(await clients.callTool(call)).toEqual({ type: "completed", output: "b" });
});

test("a server that reports changed tools is listed again", async () => {
  const [server] = await start({ refreshMs: 600_000 }, [plainTool("a")]);
  await clients.start();
  server!.tools = [plainTool("a", { description: "new words" }), plainTool("b")];
  server!.notify();
  await expect.poll(() => names()).toEqual(["a", "b"]);
  expect(catalogues).toHaveLength(2);
  const digests = catalogues.map(({ tools }) => tools[0]?.digest);
  expect(digests[0]).not.toBe(digests[1]);
});

/** The description of the tool that `beforeSend` of a call gets. */
async function cleared(tool: string): Promise<string | undefined> {
  let description: string | undefined;
  const outcome = await clients.callTool({
    tool,
    arguments: {},
    timeoutMs: 20_000,
    beforeSend: async (offered) => {
      ({ description } = offered);
      return { type: "send", arguments: {} };
    },
  });
  expect(outcome.type).toBe("completed");
  return description;
}

test("a call after the server reported changed tools waits for the new list", async () => {
  const [server] = await start({ refreshMs: 600_000 }, [plainTool("a"), plainTool("b")]);
  await clients.start();
  server!.tools = [plainTool("a", { description: "new words" }), plainTool("b")];
  server!.pageLatencyMs = 200;
  server!.answer = (name) => {
    server!.notify();
    return { content: [{ type: "text", text: name }] };
  };
  const seen = server!.pagesServed;
  await cleared("b");
  await expect.poll(() => server!.pagesServed, { interval: 1 }).toBeGreaterThan(seen);
  expect(await cleared("a")).toBe("new words");
});

test("a server that reports changed tools without end is still called", async () => {
  const [server] = await start({ refreshMs: 600_000 }, [plainTool("a")]);
  await clients.start();
  const notifying = setInterval(() => server!.notify(), 1);
  onTestFinished(() => clearInterval(notifying));
  expect(await cleared("a")).toBeUndefined();
});

test("a server that cannot report changes is listed again before a call when its list is old", async () => {
  const [server] = await start({ refreshMs: 600_000, maxListingAgeMs: 0 }, []);
  server!.notifies = false;
  server!.tools = [plainTool("a")];
  await clients.start();
  server!.tools = [plainTool("a", { description: "new words" })];
  expect(await cleared("a")).toBe("new words");
});

test("a call is cleared again when its tool changed meanwhile", async () => {
  const [server] = await start({ refreshMs: 600_000 }, [plainTool("a")]);
  await clients.start();
  const offers: (string | undefined)[] = [];
  await clients.callTool({
    tool: "a",
    arguments: {},
    timeoutMs: 20_000,
    beforeSend: async ({ description }) => {
      offers.push(description);
      if (offers.length === 1) {
        server!.tools = [plainTool("a", { description: "new words" })];
        server!.notify();
        await expect.poll(() => catalogues.length).toBe(2);
      }
      return { type: "send", arguments: {} };
    },
  });
  expect(offers).toEqual([undefined, "new words"]);
  expect(server!.called).toEqual(["a"]);
});

test("silent servers are listed again at an interval, and published only after a change", async () => {
  const [server] = await start({ refreshMs: 20 }, [plainTool("a")]);
  await clients.start();
  await expect.poll(() => server!.pagesServed).toBeGreaterThan(3);
  expect(catalogues).toHaveLength(1);
  server!.tools = [];
  await expect.poll(() => names()).toEqual([]);
  expect(catalogues).toMatchObject([{ tools: [{ descriptor: { name: "a" } }] }, { server: "s0", tools: [] }]);
});

test("a server that announces notifications and refuses their stream is listed more often", async () => {
  servers.push(await startChangingServer([plainTool("a")], 0, 0));
  const [server] = await start({ refreshMs: 60_000 });
  await clients.start();
  server!.tools = [plainTool("b")];
  server!.notify();
  await expect.poll(() => names(), { timeout: 30_000 }).toEqual(["b"]);
});

test("a name gets its server as a prefix when a second server offers the same name", async () => {
  const [, second] = await start(
    { refreshMs: 600_000 },
    [plainTool("search"), plainTool("x")],
    [plainTool("y")],
  );
  await clients.start();
  expect(names()).toEqual(["search", "x", "y"]);
  second!.tools = [plainTool("search"), plainTool("y")];
  second!.notify();
  await expect.poll(() => names()).toEqual(["s0/search", "x", "s1/search", "y"]);
  const call = { tool: "s1/search", arguments: {}, timeoutMs: 5_000 };
  expect(await clients.callTool(call)).toEqual({ type: "completed", output: "search" });
});

test("a call of a listed tool that no longer exists has no effect", async () => {
  const [server] = await start({}, [plainTool("a")]);
  await clients.start();
  server!.tools = [];
  expect(await clients.callTool({ tool: "a", arguments: {}, timeoutMs: 5_000 })).toMatchObject({
    effect: "none",
    error: { code: "TOOL_NOT_FOUND" },
  });
});

test("a call that names a server goes to that server, even if another server offers the name", async () => {
  const [first, second] = await start({}, [plainTool("search"), plainTool("a")], [plainTool("search")]);
  await clients.start();
  const call = (tool: string, server?: string) =>
    clients.callTool({ tool, server, arguments: {}, timeoutMs: 5_000 });
  expect(await call("search")).toMatchObject({ effect: "none", error: { code: "TOOL_NOT_FOUND" } });
  expect(await call("search", "s1")).toMatchObject({ type: "completed" });
  expect(await call("search", "s0")).toMatchObject({ type: "completed" });
  expect(await call("a", "s0")).toMatchObject({ type: "completed" });
  expect(await call("a", "s1")).toMatchObject({
    effect: "none",
    error: { code: "TOOL_NOT_FOUND", message: "There is no tool a on server s1" },
  });
  expect([first?.called, second?.called]).toEqual([["search", "a"], ["search"]]);
});

test("a call of a server that was never reached fails as unreachable, not as unknown", async () => {
  const [gone] = await start({}, [plainTool("a")]);
  await gone!.close();
  await clients.start();
  expect(await clients.callTool({ tool: "a", server: "s0", arguments: {}, timeoutMs: 5_000 })).toMatchObject({
    effect: "none",
    error: { code: "TOOL_UNREACHABLE", retryable: true },
  });
  servers.splice(0);
});

test("a server that accepts a connection and never answers does not delay callers for long", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const other = await startChangingServer([plainTool("t")]);
  servers.push(other);
  const mcpServers = { silent: { url: `http://127.0.0.1:${port}/mcp` }, other: { url: other.url } };
  clients = createToolClients(parseServers({ mcpServers }), {
    startTimeoutMs: 100,
    connectTimeoutMs: 600_000,
  });
  await clients.start();
  await expect.poll(() => names()).toEqual(["t"]);
  expect(clients.status()).toMatchObject([{ server: "silent", state: "connecting" }, { server: "other" }]);
});
