/**
 * Large values beside small calls: for each kind of plan that has them, the longest block of the executor's
 * event loop, its peak memory, and how long small calls of another tenant take meanwhile. The executor runs
 * from its build, as in production; tools are separate processes. The exit code is 1 when a small call was not
 * COMPLETED, or the executor was declared dead.
 *
 * npm run bench -- weight [--only <kinds>] [--fields 600000] [--json]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@planwright/local";
import { isTerminalPlanStatus, type Plan, type PlanId, parsePlan } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore } from "@planwright/store";
import { type BehaviourInput, countingToolServerCommand, watchEventLoop } from "@planwright/testing";
import { developerCommand, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { startServers, startService } from "../servers/servers.ts";
import { latenciesOf } from "./figures.ts";

const { only, fields, json } = developerCommand(
  "bench -- weight",
  "Runs plans with large values beside small calls.",
)
  .option("--only <kinds>", "these kinds alone, with commas between them")
  .option(
    "--fields <number>",
    "fields of a result of many fields",
    wholeNumberOption(1_000, 800_000),
    600_000,
  )
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ only?: string; fields: number; json: boolean }>();

const LARGE = "large";
const SMALL = "small";
/** Time between two small calls, in milliseconds. */
const PAUSE_MS = 50;
/** A kind without large values is measured for this time, in milliseconds. */
const ALONE_MS = 5_000;
/** Nearly the largest output. */
const BYTES = 8_000_000;

type Steps = readonly Record<string, unknown>[];

/** A plan with large values: what `read` answers, one answer a step, and the plan. */
interface Kind {
  reads?: readonly Omit<Extract<BehaviourInput, { type: "huge" }>, "type">[];
  plan?: { steps: Steps; outputs?: unknown };
  /** The plan waits for an approval of this step, which is given. */
  approves?: string;
}

/** The figures of one kind. */
interface Row {
  status: string;
  /**
   * The longest three, in milliseconds of processor time; in brackets, V8's garbage collection in them, and the pages
   * of memory that they used for the first time.
   */
  longestBlocksMs: string;
  /** Of the executor. */
  peakMiB: number;
  smallCalls: number;
  smallP50Ms: number;
  smallP99Ms: number;
  /** Small calls that are in doubt or failed. */
  notCompleted: number;
  /** Plans that the executor lost because it was declared dead. */
  leaseLosses: number;
}

const read = { id: "read", tool: "large/read_value" };
const manyFields = { bytes: 1, fields };
const manyItems = { bytes: 1, items: 75_000 };
const use = (value: unknown) => ({ id: "use", tool: "large/set_value", arguments: { value } });
const twelve = Array.from({ length: 12 }, (_, index) => ({ ...read, id: `read${index}` }));
const batchOf = (value: unknown) => ({
  id: "list",
  forEach: {
    items: Array.from({ length: 10_000 }, (_, index) => index),
    do: { tool: "large/batch_keyed", arguments: { value } },
  },
});

const KINDS: Readonly<Record<string, Kind>> = {
  alone: {},
  fields: { reads: [manyFields], plan: { steps: [read, use("<<read.fields.f7>>")] } },
  "12-results": {
    reads: twelve.map(() => manyFields),
    plan: { steps: [...twelve, use(twelve.map(({ id }) => `<<${id}.fields.f7>>`))] },
  },
  text: { reads: [{ bytes: BYTES }], plan: { steps: [read, use("<<read.text>>")] } },
  "too-large": { reads: [{ bytes: 20_000_000 }], plan: { steps: [read] } },
  secret: {
    reads: [manyFields],
    plan: {
      steps: [
        read,
        {
          id: "use",
          tool: "large/set_value",
          arguments: { value: "<<read.fields>>", key: "secret://bench-key" },
        },
      ],
    },
  },
  when: {
    reads: [manyFields],
    plan: { steps: [read, { ...use(1), when: { eq: ["<<read.fields.f7>>", 7] } }] },
  },
  "forEach-items": {
    // Each item is a call; the list is above 256 KiB.
    reads: [{ bytes: 1, items: 4_000 }],
    plan: {
      steps: [
        read,
        {
          id: "list",
          forEach: {
            items: "<<read.items>>",
            as: "item",
            key: "<<item.id>>",
            do: { tool: "large/noop", arguments: { value: "<<item.text>>" } },
          },
        },
      ],
    },
  },
  "forEach-inserts": {
    reads: [manyFields],
    plan: {
      steps: [
        read,
        {
          id: "list",
          forEach: {
            items: [1, 2, 3, 4],
            do: { tool: "large/noop", arguments: { value: "<<item>>", all: "<<read.fields.f7>>" } },
          },
        },
      ],
    },
  },
  batch: { plan: { steps: [batchOf("some words ".repeat(10))] } },
  "batch-inserts": {
    reads: [manyFields],
    plan: { steps: [read, batchOf("<<read.fields.f7>>")] },
  },
  approval: {
    reads: [manyFields],
    plan: { steps: [read, { ...use("<<read.fields>>"), approval: true }] },
    approves: "use",
  },
  parts: {
    reads: [manyItems],
    plan: { steps: [read], outputs: { ids: "<<read.items[*].id>>" } },
  },
};

const servers = await startServers();
const { folder, redisUrl } = servers;
const [large, small] = await Promise.all([startTools(LARGE), startTools(SMALL)]);
const batch = { param: "items", max: 10_000 };
const serversFile = join(folder, "servers.json");
await writeFile(
  serversFile,
  JSON.stringify({
    mcpServers: {
      [LARGE]: {
        url: large.url,
        trusted: true,
        secrets: { "bench-key": {} },
        tools: { batch_keyed: { batch } },
      },
      [SMALL]: { url: small.url, trusted: true },
    },
  }),
);
const mongodbUrl = servers.mongodbUrl("weight");
const store = await createStore({ url: mongodbUrl });
const queues = createQueues({ redisUrl });
const healthPort = await freePort();
const blocks = watchEventLoop(join(folder, "blocks"), 1);
const executor = await startService("executor", "build", {
  MONGODB_URL: mongodbUrl,
  REDIS_URL: redisUrl,
  MCP_SERVERS_FILE: serversFile,
  HEALTH_PORT: String(healthPort),
  ...blocks.env,
  PLANWRIGHT_SECRET_BENCH_KEY: "not-a-secret",
});
while (!(await store.toolCatalogue()).some(({ name }) => name === "small/plain_effect")) await delay(50);
// The JIT compiles what the measurements use.
await smallCallsDuring(delay(3_000));

const rows: Record<string, Row> = {};
for (const [name, kind] of Object.entries(KINDS)) {
  if (only !== undefined && !only.split(",").includes(name)) continue;
  rows[name] = await measure(kind);
  say(`${name} ${JSON.stringify(rows[name])}`);
}
await executor.stop("SIGKILL");
for (const tools of [large, small]) tools.stop();
await queues.close();
await store.close();
await servers.stop();
console.table(rows);
if (json) printJson(rows);
process.exitCode = Object.values(rows).every((row) => row.notCompleted + row.leaseLosses === 0) ? 0 : 1;

async function measure({ reads = [], plan, approves }: Kind): Promise<Row> {
  await script(reads);
  await blocks.start();
  await writeFile(`/proc/${executor.pid}/clear_refs`, "5"); // the peak is the one from now on
  const losses = await metric("planwright_executor_lease_losses_total");
  const work = plan ? execute(LARGE, planOf(plan), approves) : delay(ALONE_MS, "");
  const { durations, ends } = await smallCallsDuring(work);
  const { p50Ms, p99Ms } = latenciesOf(durations);
  return {
    status: await work,
    longestBlocksMs: (await blocks.longestFirst())
      .slice(0, 3)
      .map(({ ms, gcMs, pageFaults }) => `${ms} (${gcMs}, ${pageFaults})`)
      .join(" "),
    peakMiB: await peakMiB(),
    smallCalls: durations.length,
    smallP50Ms: p50Ms,
    smallP99Ms: p99Ms,
    notCompleted: ends.filter((status) => status !== "COMPLETED").length,
    leaseLosses: (await metric("planwright_executor_lease_losses_total")) - losses,
  };
}

/** Calls of another tenant that must not be repeated, one plan each, one after the other. */
async function smallCallsDuring(work: Promise<unknown>): Promise<{ durations: number[]; ends: string[] }> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const plan = planOf({ steps: [{ id: "small", tool: "small/plain_effect", arguments: { value: 1 } }] });
  const durations: number[] = [];
  const ends: string[] = [];
  while (!isOver) {
    const startedAt = performance.now();
    ends.push(await execute(SMALL, plan));
    durations.push(performance.now() - startedAt);
    await delay(PAUSE_MS);
  }
  await over;
  return { durations, ends };
}

function planOf(plan: object): Plan {
  const parsed = parsePlan({ ...plan, policy: { stepTimeoutMs: 600_000 } });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** Runs a plan, and approves a step of it. @returns the status at its end, with the first error */
async function execute(tenant: string, plan: Plan, approves?: string): Promise<string> {
  const input = { tenant, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const submitted = await store.submitPlan(input);
  const planId = submitted.plan._id;
  queues.offerExecution(submitted.plan);
  for (;;) {
    await delay(10);
    const now = await store.getPlan(tenant, planId);
    if (approves !== undefined && now?.status === "WAITING") await approve(planId, approves);
    if (now && (isTerminalPlanStatus(now.status) || now.counts?.IN_DOUBT))
      return now.error ? `${now.status}: ${now.error.message.slice(0, 100)}` : now.status;
  }
}

async function approve(planId: PlanId, stepId: string): Promise<void> {
  const steps = await store.listStepHeads(LARGE, [planId]);
  const { approvalHash } = steps.find(({ key }) => key === stepId) ?? {};
  const approval = { stepId, approvalHash: approvalHash ?? "", approved: true, reason: null, by: "bench" };
  await store.approveStep(LARGE, planId, approval);
}

/** Starts a tool server as a separate process. */
async function startTools(name: string): Promise<{ url: string; stop(): void }> {
  const options = { ledgerFile: join(folder, `${name}.jsonl`), lists: true };
  const { command, args } = countingToolServerCommand(options);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line]: string[] = await once(createInterface({ input: child.stdout }), "line");
  const { url }: { url: string } = JSON.parse(line ?? "");
  return { url, stop: () => void child.kill("SIGKILL") };
}

/** Sets the next answers of `large/read_value`. */
async function script(reads: Kind["reads"] = []): Promise<void> {
  const body = JSON.stringify({ read_value: reads.map((one) => ({ type: "huge", ...one })) });
  await fetch(new URL("/script", large.url), { method: "POST", body });
}

/** A series of the executor, without its labels. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "m").exec(text)?.[1] ?? 0);
}

/** The most memory that the executor had since the last reset, in MiB. */
async function peakMiB(): Promise<number> {
  const status = await readFile(`/proc/${executor.pid}/status`, "utf8");
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024);
}
