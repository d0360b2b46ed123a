import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type JsonObject, parsePlan, pinTools } from "@planwright/plan";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

const FILE_SERVER = fileURLToPath(
  new URL("../../../packages/tools/test/file-tool-server.mjs", import.meta.url),
);
const SECRET = "correct-horse-battery-staple";

let x: ChangingServer;
let y: ChangingServer;
let bench: Workbench;
let folder: string;
/** What the executor has printed. */
let logged: () => string;

const note = plainTool("note");
const find = plainTool("find");
const pay = plainTool("pay", { annotations: { readOnlyHint: false } });
const READS = { annotations: { readOnlyHint: true } };
const search = plainTool("search", { description: "Searches.", ...READS });
const withQuery = plainTool("search", {
  description: "Searches.",
  ...READS,
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
});
const otherDescription = plainTool("search", { description: "Searches everything.", ...READS });
const OFFERED = [note, find, pay, search];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "planwright-changed-"));
  await writeFile(join(folder, "crm-key"), SECRET);
  await writeFile(join(folder, "tools.json"), JSON.stringify([plainTool("restart"), search]));
  await writeFile(join(folder, "calls"), "");
  x = await startChangingServer(OFFERED);
  y = await startChangingServer([plainTool("wait")]);
  bench = await openWorkbench({
    x: {
      url: x.url,
      trusted: true,
      secrets: { "crm-key": {} },
      tools: { pay: { lookup: { tool: "find", arguments: {}, settle_ms: 100 } } },
    },
    y: { url: y.url },
    files: {
      command: process.execPath,
      args: [FILE_SERVER, join(folder, "tools.json"), join(folder, "calls")],
    },
  });
  ({ output: logged } = await bench.startExecutor({ SECRETS_DIR: folder }));
});
afterEach(async () => {
  await bench.close();
  await x.close();
  await y.close();
  await rm(folder, { recursive: true, force: true });
});

const textOf = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** Changes the tools that the server offers; resolves after the executor has listed them. */
async function offer(...tools: object[]): Promise<void> {
  const seen = x.pagesServed;
  x.tools = tools;
  x.notify();
  await expect.poll(() => x.pagesServed, { timeout: 30_000, interval: 5 }).toBeGreaterThan(seen);
}

/**
 * The server changes its tools while the first call of a tool is running. Other calls are answered with the
 * names of their tools.
 */
function duringCall(of: string, change: () => Promise<void>): void {
  let isFirst = true;
  x.answer = async (name) => {
    if (name === of && isFirst) {
      isFirst = false;
      await change();
    }
    return textOf(name);
  };
}

/** Submits a plan that was checked and pinned with the current catalogue, as the API does. */
async function start(steps: JsonObject[]) {
  const tools = await bench.store.toolCatalogue();
  const parsed = parsePlan({ steps }, { tools });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: parsed.plan,
    toolPins: pinTools(parsed.plan, tools),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  return plan;
}

const execute = async (steps: JsonObject[]) => bench.end((await start(steps))._id);

const CHAIN = [
  { id: "a", tool: "note" },
  { id: "b", tool: "x/search", dependsOn: ["a"] },
];
const REFUSED = {
  code: "TOOL_CHANGED",
  message:
    "Tool search of server x has changed since the plan was made (input schema), so nothing was sent. Rerun the plan with the current tool, or plan it again",
  retryable: false,
};

test("a tool that changes between two steps of a running plan is not called", async () => {
  duringCall("note", () => offer(note, find, pay, withQuery));
  const { plan, steps } = await execute(CHAIN);
  expect(plan).toMatchObject({ status: "FAILED", error: { code: "TOOL_CHANGED" } });
  expect(steps.get("b")).toMatchObject({ status: "FAILED", error: REFUSED });
  expect(x.called).toEqual(["note"]);
  expect(logged()).toContain("tool has changed, and is not called");
});

test("a tool with only another description is called, and its step and the log have a warning", async () => {
  duringCall("note", () => offer(note, find, pay, otherDescription));
  const { plan, steps } = await execute(CHAIN);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("b")?.warnings).toEqual([
    "Tool search of server x has changed since the plan was made (description); it was called anyway, because its contract and schemas are unchanged",
  ]);
  expect(x.called).toEqual(["note", "search"]);
  expect(logged()).toContain("tool has changed, and is called");
});

test("a tool with only another description gets no secret", async () => {
  duringCall("note", () => offer(note, find, pay, otherDescription));
  const sent: unknown[] = [];
  const { answer } = x;
  x.answer = (name, args) => {
    sent.push(args);
    return answer(name, args);
  };
  const [first, second] = CHAIN;
  const { steps } = await execute([first!, { ...second, arguments: { token: "secret://crm-key" } }]);
  expect(steps.get("b")?.error).toMatchObject({
    code: "TOOL_CHANGED",
    message: expect.stringContaining(
      "(description), and the call would send secrets to it, so nothing was sent",
    ),
  });
  expect(x.called).toEqual(["note"]);
  expect(JSON.stringify(sent)).not.toContain(SECRET);
});

test("a tool that is listed in another order and with another time at each listing is called, with a warning", async () => {
  const book = () => {
    const listings = x.pagesServed;
    const isOdd = listings % 2 === 1;
    const inOrder = (...names: string[]) => (isOdd ? names : names.toReversed());
    return plainTool("book", {
      inputSchema: {
        type: "object",
        properties: {
          day: { type: "string", enum: inOrder("Mon", "Tue") },
          room: { anyOf: inOrder("string", "number").map((type) => ({ type })) },
          until: { type: "string", default: `at listing ${listings}`, description: `Default: ${listings}` },
        },
        required: inOrder("day", "room"),
      },
    });
  };
  Object.defineProperty(x, "tools", { get: () => [...OFFERED, book()] });
  const relisted = async () => {
    const seen = x.pagesServed;
    x.notify();
    await expect.poll(() => x.pagesServed, { timeout: 30_000, interval: 5 }).toBeGreaterThan(seen);
  };
  const isKnown = async () => (await bench.store.toolCatalogue()).some(({ name }) => name === "book");
  x.notify();
  await expect.poll(isKnown, { timeout: 30_000, interval: 20 }).toBe(true);
  duringCall("note", relisted);
  const { plan, steps } = await execute([
    { id: "a", tool: "note" },
    { id: "b", tool: "book", arguments: { day: "Mon", room: "A" }, dependsOn: ["a"] },
  ]);
  expect(plan).toMatchObject({ status: "COMPLETED" });
  expect(steps.get("b")?.warnings).toEqual([
    "Tool book of server x has changed since the plan was made (texts or default values of its schemas); it was called anyway, because its contract and schemas are unchanged",
  ]);
  expect(x.called).toEqual(["note", "book"]);
});

test("a tool that changed and changed back is called", async () => {
  duringCall("note", async () => {
    await offer(note, find, pay, withQuery);
    await offer(...OFFERED);
  });
  const { plan, steps } = await execute(CHAIN);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("b")?.warnings).toEqual([]);
  expect(x.called).toEqual(["note", "search"]);
});

test("a server that restarted with another schema is not called with the old one", async () => {
  const first = x;
  y.answer = async (name) => {
    await first.close();
    x = await startChangingServer([note, find, pay, withQuery], Number(new URL(first.url).port));
    return textOf(name);
  };
  const { steps } = await execute([
    { id: "before", tool: "x/search" },
    { id: "a", tool: "wait", dependsOn: ["before"] },
    { id: "b", tool: "x/search", dependsOn: ["a"] },
  ]);
  expect(steps.get("before")?.status).toBe("COMPLETED");
  expect(steps.get("b")).toMatchObject({ status: "FAILED", error: REFUSED });
  expect([first.called, x.called]).toEqual([["search"], []]);
});

test("a process that restarted with another schema is not called with the old one", async () => {
  await writeFile(join(folder, "tools.json"), JSON.stringify([plainTool("restart"), withQuery]));
  // A call to the ending process would be lost with it, which is not the subject of this test.
  y.answer = async (name) => {
    await expect.poll(logged, { timeout: 30_000, interval: 5 }).toMatch(/"server":"files".*"not connected"/);
    return textOf(name);
  };
  const { steps } = await execute([
    { id: "a", tool: "restart" },
    { id: "gone", tool: "wait", dependsOn: ["a"] },
    { id: "b", tool: "files/search", dependsOn: ["gone"] },
  ]);
  expect(steps.get("b")?.error).toMatchObject({
    code: "TOOL_CHANGED",
    message: expect.stringContaining("of server files has changed since the plan was made (input schema)"),
  });
  expect(await readFile(join(folder, "calls"), "utf8")).toBe("restart\n");
});

test("no further item of a list is called after its tool has changed", async () => {
  duringCall("search", () => offer(note, find, pay, withQuery));
  const { steps } = await execute([
    {
      id: "each",
      forEach: { items: [1, 2, 3], concurrency: 1, errors: "collect", do: { tool: "x/search" } },
    },
  ]);
  expect(x.called).toEqual(["search"]);
  expect(["each[0]", "each[1]", "each[2]"].map((key) => steps.get(key)?.error?.code)).toEqual([
    undefined,
    "TOOL_CHANGED",
    "TOOL_CHANGED",
  ]);
});

test("a step is not retried with a tool that changed since its last attempt", async () => {
  duringCall("search", async () => {
    await offer(note, find, pay, withQuery);
    await new Promise(() => undefined);
  });
  const { steps } = await execute([
    { id: "b", tool: "x/search", timeoutMs: 3_000, retry: { initialMs: 0, maxAttempts: 3 } },
  ]);
  expect(steps.get("b")).toMatchObject({ status: "FAILED" });
  expect(x.called).toEqual(["search"]);
});

test("a lookup tool that changed is not asked, and the step stays in doubt", async () => {
  duringCall("pay", async () => {
    await offer(note, plainTool("find", { outputSchema: { type: "object" } }), pay, search);
    await new Promise(() => undefined);
  });
  const plan = await start([{ id: "p", tool: "pay", timeoutMs: 3_000 }]);
  await bench.until(plan._id, ({ waitReason }) => waitReason === "in doubt");
  expect((await bench.steps(plan._id)).get("p")).toMatchObject({
    status: "IN_DOUBT",
    error: { message: expect.stringContaining("Tool find of server x has changed") },
  });
  expect(x.called).toEqual(["pay"]);
});
