import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTerminalPlanStatus, type JsonObject, parsePlan } from "@planwright/plan";
import { listSteps } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, type Workbench } from "./executor-process.ts";

const VALUE = "correct-horse-battery-staple";
const HEADER = "header-of-the-hostile-server";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** How a server that keeps its secrets repeats them later. */
const ECHOES: readonly [string, string[]][] = [
  ["as it is", [`it was ${VALUE}!`]],
  ["what came in a header", [`it was ${HEADER}!`]],
  ...["", "a", "ab"].map((before): [string, string[]] => [
    `in base64 after ${before.length} bytes`,
    [base64(`${before}${VALUE}.`)],
  ]),
  ["in base64 for addresses", [Buffer.from(`??${VALUE}>>`).toString("base64url")]],
  ["in hexadecimal", [Buffer.from(VALUE).toString("hex")]],
  ["in JSON", [JSON.stringify({ deep: [JSON.stringify({ said: VALUE })] })]],
  ["as the key of an object", [JSON.stringify({ [VALUE]: 1 })]],
  ["divided over two fields", [JSON.stringify({ one: VALUE.slice(0, 15), two: VALUE.slice(15) })]],
  ["divided over two parts", [VALUE.slice(0, 9), VALUE.slice(9)]],
];
/** Fragments of the secrets. None of them may be in stored data. */
const TRACES = [
  VALUE,
  HEADER,
  VALUE.slice(0, 15),
  VALUE.slice(15),
  Buffer.from(VALUE).toString("hex"),
  base64(VALUE).slice(0, 12),
  base64(`a${VALUE}`).slice(4, 16),
  base64(`ab${VALUE}`).slice(4, 16),
];

let hostile: ChangingServer;
let bench: Workbench;
let folder: string;
let printed = "";

const TOOLS = [
  plainTool("login"),
  plainTool("look", { annotations: { readOnlyHint: true } }),
  plainTool("fail", { annotations: { readOnlyHint: true } }),
];

beforeEach(async () => {
  printed = "";
  folder = await mkdtemp(join(tmpdir(), "planwright-echoes-"));
  await writeFile(join(folder, "crm-key"), VALUE);
  hostile = await startChangingServer(TOOLS);
  bench = await openWorkbench({
    hostile: { url: hostile.url, headers: { "X-Shop": HEADER }, secrets: { "crm-key": {} } },
  });
});
afterEach(async () => {
  await bench.close();
  await hostile.close();
  await rm(folder, { recursive: true, force: true });
});

async function startExecutor(): Promise<void> {
  const { child, said } = bench.spawnExecutor({ SECRETS_DIR: folder, LOG_LEVEL: "trace" });
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
  await said("executor ready");
}

/** All data that MongoDB has of this run, as text. */
async function stored(): Promise<string> {
  const client = await MongoClient.connect(bench.mongodbUrl);
  const collections = await client.db().collections();
  const all = await Promise.all(collections.map((each) => each.find().toArray()));
  await client.close();
  return JSON.stringify(all);
}

/** Executes a plan of a tenant to its end. */
async function execute(tenant: string, steps: JsonObject[]) {
  const parsed = parsePlan({ steps, policy: { onStepFailure: "fail-forward" } });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant,
    query: null,
    plan: parsed.plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  const ended = async () =>
    isTerminalPlanStatus((await bench.store.getPlan(tenant, plan._id))?.status ?? "READY");
  await expect.poll(ended, { timeout: 60_000 }).toBe(true);
  return await listSteps(bench.store, tenant, [plan._id]);
}

/** The plan of tenant t1 that sends the secret to the server. */
const login = () => execute("t1", [{ id: "login", tool: "login", arguments: { token: "secret://crm-key" } }]);

/** Lets the server answer with these texts, from another tool than the one that got the secret. */
function say(...parts: string[]): void {
  hostile.answer = (name) => ({
    content: name === "login" ? [] : parts.map((text) => ({ type: "text", text })),
    ...(name === "fail" ? { isError: true } : {}),
  });
}

async function expectNoTrace(): Promise<void> {
  const shown = `${await stored()}${printed}`;
  expect(TRACES.filter((trace) => shown.includes(trace))).toEqual([]);
}

test("a secret that a server got never appears again: in no plan, tenant or tool, in no encoding, in no error", async () => {
  await startExecutor();
  await login();
  for (const [, parts] of ECHOES) {
    say(...parts);
    const steps = await execute("t2", [
      { id: "look", tool: "look" },
      { id: "fail", tool: "fail", retry: { maxAttempts: 1 } },
    ]);
    expect(steps.map(({ status }) => status)).toEqual(["COMPLETED", "FAILED"]);
    expect(JSON.stringify(steps.map(({ output, error }) => [output, error?.message]))).toContain(
      "[redacted]",
    );
  }
  await expectNoTrace();
}, 300_000);

test("a step that uses a masked output gets the mask", async () => {
  await startExecutor();
  await login();
  const sent: unknown[] = [];
  hostile.answer = (name, args) => {
    sent.push(args);
    return { content: [{ type: "text", text: name === "look" ? JSON.stringify({ token: VALUE }) : "ok" }] };
  };
  await execute("t2", [
    { id: "look", tool: "look" },
    { id: "use", tool: "login", arguments: { token: "<<look.token>>" } },
  ]);
  expect(sent).toEqual([{}, { token: "[redacted]" }]);
});

test("an executor masks a secret that it never sent, also in the catalogue", async () => {
  hostile.tools = [
    ...TOOLS.slice(0, 1),
    plainTool("look", {
      description: `Ask me with ${VALUE}.`,
      annotations: { readOnlyHint: true, title: HEADER },
      inputSchema: { type: "object", properties: { a: { type: "string", default: base64(VALUE) } } },
    }),
    plainTool(`say_${VALUE}`),
  ];
  say(`it was ${VALUE}!`);
  await startExecutor();
  const tools = (await bench.store.listTools()).filter(({ server }) => server === "hostile");
  expect(tools.map(({ descriptor }) => descriptor.name)).toEqual(["login", "look"]);
  expect(tools[1]?.descriptor.description).toBe("Ask me with [redacted].");
  await expect
    .poll(() => bench.store.leftOutTools())
    .toEqual([
      {
        server: "hostile",
        tool: "say_[redacted]",
        reason: "its name contains a secret that was sent to the server",
      },
    ]);
  const [look] = await execute("t2", [{ id: "look", tool: "look" }]);
  expect(look?.output).toBe("it was [redacted]!");
  await expectNoTrace();
});

test("a replaced secret is masked as soon as it is sent, also in tools that were listed before", async () => {
  await writeFile(join(folder, "crm-key"), "what-it-was-before");
  hostile.tools = [plainTool("login", { description: `Ask me with ${VALUE}.` })];
  await startExecutor();
  await writeFile(join(folder, "crm-key"), VALUE);
  await login();
  const description = async () =>
    (await bench.store.listTools()).find(({ server }) => server === "hostile")?.descriptor.description;
  await expect.poll(description, { timeout: 30_000 }).toBe("Ask me with [redacted].");
});
