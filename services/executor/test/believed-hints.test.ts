/** Tools of a configured server that declares only readOnlyHint: they run in parallel, and are never in doubt. */
import { parsePlan } from "@planwright/plan";
import { afterEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

let server: ChangingServer | undefined;
let bench: Workbench;
afterEach(async () => {
  await bench.close();
  await server?.close();
  server = undefined;
});

async function submit(steps: object[], policy = {}) {
  const tools = await bench.store.toolCatalogue(TENANT);
  const parsed = parsePlan({ steps, policy }, { tools });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: parsed.plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  return plan;
}

const READ = plainTool("get_weather", { annotations: { readOnlyHint: true } });
const CITIES = ["Tokyo", "London", "Paris"];

test("reads of a configured server that declares only readOnlyHint run in parallel", async () => {
  server = await startChangingServer([READ]);
  bench = await openWorkbench({ weather: { url: server.url } });
  await bench.startExecutor();
  // No call is answered before all three have arrived.
  let waiting: (() => void)[] = [];
  server.answer = async (name) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length < CITIES.length) return;
      for (const answer of waiting) answer();
      waiting = [];
    });
    return { content: [{ type: "text", text: name }] };
  };
  const { _id } = await submit(CITIES.map((city) => ({ id: city, tool: "get_weather" })));
  expect((await bench.end(_id)).plan.status).toBe("COMPLETED");
});

/** A server over stdio that never answers a call. */
const SILENT = `
  const tool = ${JSON.stringify(READ)};
  const answers = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "silent", version: "1" },
    }),
    "tools/list": () => ({ tools: [tool] }),
    ping: () => ({}),
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = answers[method];
    if (id === undefined || method === "tools/call") return;
    const result = answer ? { result: answer(params) } : { error: { code: -32601, message: "no" } };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...result }));
  });
`;

const TRANSPORTS = ["http", "stdio"] as const;
const ENDS = ["a timeout", "a cancel", "a deadline"] as const;

test.each(TRANSPORTS.flatMap((transport) => ENDS.map((end) => [transport, end] as const)))(
  "over %s a read that has no answer until %s is not in doubt, and its repeat needs no approval",
  async (transport, end) => {
    if (transport === "http") {
      server = await startChangingServer([READ]);
      server.answer = () => new Promise(() => undefined);
    }
    const silent = { command: process.execPath, args: ["-e", SILENT] };
    bench = await openWorkbench({ weather: server ? { url: server.url } : silent });
    await bench.startExecutor(end === "a deadline" ? { PLAN_TIMEOUT_MS: "3000" } : {});
    const timeoutMs = end === "a timeout" ? 300 : 60_000;
    const first = await submit([{ id: "read", tool: "get_weather", timeoutMs, retry: { maxAttempts: 1 } }]);
    if (end === "a cancel") {
      await expect.poll(async () => (await bench.steps(first._id)).get("read")?.status).toBe("RUNNING");
      await bench.store.requestCancel(TENANT, first._id, "client");
    }
    const { plan, steps } = await bench.end(first._id);
    const expected = {
      "a timeout": ["FAILED", "FAILED", "TOOL_TIMEOUT"],
      "a cancel": ["CANCELLED", "CANCELLED", "CANCELLED"],
      "a deadline": ["EXPIRED", "CANCELLED", "DEADLINE_EXCEEDED"],
    }[end];
    const read = steps.get("read");
    expect([plan.status, read?.status, read?.error?.code]).toEqual(expected);
    expect([read?.effectClass, read?.effect]).toEqual(["R", null]);
    const again = await bench.store.rerunPlan(TENANT, first.requestId, { from: null, autoExecute: false });
    expect(again).toMatchObject({ type: "rerun", plan: { plan: { steps: [{ id: "read" }] } } });
    expect(JSON.stringify(again)).not.toContain('"approval":true');
  },
);
