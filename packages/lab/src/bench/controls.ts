/**
 * Controls beside the busiest plan: the time until a cancel or a pause is accepted over HTTP, when the last
 * call starts after that, and when the plan has ended. In the last runs the executor that holds the plan is
 * killed with the cancel, and another one takes the plan over. Also the time until an approval, the settling
 * of a doubt and an answer are accepted by an API that has not read the plan before.
 *
 * npm run bench -- controls [--items 40000] [--runs 3] [--json]
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  isTerminalPlanStatus,
  type Plan,
  type PlanId,
  type PlanStatus,
  parsePlan,
  type RequestId,
} from "@planwright/plan";
import { toFreeQuestions } from "@planwright/reading";
import { countingToolServerCommand } from "@planwright/testing";
import { developerCommand, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { type ServiceProcess, startServers, startService } from "../servers/servers.ts";
import { openBenchSystem } from "./bench-system.ts";
import { latenciesOf } from "./figures.ts";

const { items, runs, json } = developerCommand(
  "bench -- controls",
  "Cancels and pauses plans that make calls as fast as they can.",
)
  .option("--items <number>", "calls of each plan", wholeNumberOption(1_000, 200_000), 40_000)
  .option("--runs <number>", "plans of each kind", wholeNumberOption(1, 100), 3)
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ items: number; runs: number; json: boolean }>();
const TENANT = "default";
/** Calls that a plan has made when its control is sent. */
const CALLS_BEFORE = Math.min(5_000, Math.floor(items / 4));

const servers = await startServers();
const { folder, redisUrl } = servers;
const callsFile = join(folder, "calls.jsonl");
const toolServer = countingToolServerCommand({
  ledgerFile: join(folder, "ledger.jsonl"),
  callsFile,
  stdio: true,
  script: { plain_effect: Array.from({ length: runs }, () => ({ type: "hang" as const })) },
});
const serversFile = join(folder, "servers.json");
await writeFile(serversFile, JSON.stringify({ mcpServers: { counting: { ...toolServer, trusted: true } } }));
const mongodbUrl = servers.mongodbUrl("controls");
const system = await openBenchSystem({
  mongodbUrl,
  redisUrl,
  serversFile,
  env: { CONNECT_TIMEOUT_MS: "60000" },
});
const api = await startService("api", "source", { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl });
let executors = [await startExecutor()];

// Without this the first control would wait until the API has compiled its code. The request does not exist.
const MISSING = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
for (let warmUp = 0; warmUp < 20; warmUp++) {
  await send("query ($id: ID!) { request(requestId: $id) { status } }", MISSING);
  for (const control of [
    "cancel(requestId: $id)",
    `approve(requestId: $id, stepId: "ask", approvalHash: "${"0".repeat(64)}", approved: true)`,
    'resolveInDoubt(requestId: $id, stepKey: "lost", resolution: completed, output: null)',
    'answerQuestions(requestId: $id, answers: ["Alice"])',
  ])
    await send(`mutation ($id: ID!) { ${control} { status } }`, MISSING);
}

const rows: Record<string, object> = {};
await measureDecisions();
await measure("cancel", () => run("cancel"));
await measure("pause", () => run("pause"));
executors.push(await startExecutor());
await measure("cancel, then kill -9", () => run("cancel", { kills: "after" }));
await measure("kill -9, then cancel", () => run("cancel", { kills: "before" }));
await Promise.all([...executors, api].map((service) => service.stop("SIGKILL")));
await system.close();
await servers.stop();
console.table(rows);
if (json) printJson(rows);

/** The times of one control, in milliseconds. */
interface Times {
  acceptedMs: number;
  /** From the answer until the last start of a call; 0 when none started after it. */
  lastCallMs: number;
  callsAfter1s: number;
  /** From the answer until the end of the plan, or until it is PAUSED. */
  endedMs: number;
  diagnosisMs: number;
  diagnosisBytes: number;
}

async function measure(name: string, once: () => Promise<Times>): Promise<void> {
  const all: Times[] = [];
  while (all.length < runs) all.push(await once());
  const accepted = latenciesOf(all.map(({ acceptedMs }) => acceptedMs));
  const most = (of: keyof Times): number => Math.round(Math.max(...all.map((times) => times[of])));
  rows[name] = {
    acceptedP50Ms: accepted.p50Ms,
    acceptedP99Ms: accepted.p99Ms,
    lastCallMs: most("lastCallMs"),
    callsAfter1s: most("callsAfter1s"),
    endedMs: most("endedMs"),
    diagnosisMs: most("diagnosisMs"),
    diagnosisBytes: most("diagnosisBytes"),
  };
  say(`${name} ${JSON.stringify(rows[name])}`);
}

/** Decisions of people, each beside a plan that makes calls as fast as it can. */
async function measureDecisions(): Promise<void> {
  const acceptedMs: Record<"approve" | "resolveInDoubt" | "answerQuestions", number[]> = {
    approve: [],
    resolveInDoubt: [],
    answerQuestions: [],
  };
  const timed = async (name: keyof typeof acceptedMs, mutation: string, id: RequestId): Promise<void> => {
    const sentAt = performance.now();
    await ask(`mutation ($id: ID!) { ${name}(requestId: $id, ${mutation}) { status } }`, id);
    acceptedMs[name].push(performance.now() - sentAt);
  };
  for (let count = 0; count < runs; count++) {
    const { plan, request } = await start(busyPlan({ waits: true }));
    const question = await system.store.createRequest({ tenant: TENANT, query: "who", autoExecute: false });
    const claim = await system.store.claimRequest(question._id, "bench");
    if (claim)
      await system.store.askQuestions(claim, { questions: toFreeQuestions(["Who?"], 0), draft: null });
    let hash: string | undefined;
    for (let isInDoubt = false; !isInDoubt || hash === undefined; await delay(50)) {
      const units = (await system.store.getPlan(TENANT, plan._id))?.undecided?.units ?? [];
      hash = units.flatMap((unit) => ("approvalHash" in unit ? [unit.approvalHash] : []))[0];
      isInDoubt = units.some((unit) => "attempt" in unit);
    }
    await timed("approve", `stepId: "ask", approvalHash: "${hash}", approved: true`, request._id);
    await timed("resolveInDoubt", 'stepKey: "lost", resolution: completed, output: null', request._id);
    await timed("answerQuestions", 'answers: ["Alice"]', question._id);
    await ask("mutation ($id: ID!) { cancel(requestId: $id) { status } }", request._id);
    await until(plan._id, isTerminalPlanStatus);
  }
  for (const [name, all] of Object.entries(acceptedMs)) {
    const { p50Ms, p99Ms } = latenciesOf(all);
    rows[name] = { acceptedP50Ms: p50Ms, acceptedP99Ms: p99Ms };
    say(`${name} ${JSON.stringify(rows[name])}`);
  }
}

/** Starts a plan; resolves when it has made {@link CALLS_BEFORE} calls. */
async function start(plan: Plan): ReturnType<typeof system.store.submitPlan> {
  await writeFile(callsFile, "");
  const started = await system.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  while ((await callTimes()).length < CALLS_BEFORE) await delay(50);
  return started;
}

async function until(planId: PlanId, isOver: (status: PlanStatus) => boolean): Promise<void> {
  for (;;) {
    const now = await system.store.getPlan(TENANT, planId);
    if (now && isOver(now.status)) return;
    await delay(20);
  }
}

async function run(
  control: "cancel" | "pause",
  { kills }: { kills?: "before" | "after" } = {},
): Promise<Times> {
  const { plan, request } = await start(busyPlan());
  if (kills === "before") await killOwner(plan._id);
  const sentAt = performance.now();
  await ask(`mutation ($id: ID!) { ${control}(requestId: $id) { status } }`, request._id);
  const acceptedMs = performance.now() - sentAt;
  const answeredAt = Date.now();
  const answered = performance.now();
  if (kills === "after") await killOwner(plan._id);
  await until(plan._id, control === "pause" ? (status) => status === "PAUSED" : isTerminalPlanStatus);
  const endedMs = performance.now() - answered;
  await delay(1_500);
  const after = (await callTimes()).filter((at) => at > answeredAt).map((at) => at - answeredAt);
  const diagnosedAt = performance.now();
  const diagnosis = await ask(
    "query ($id: ID!) { request(requestId: $id) { diagnosis { cause { code message } reasons stepKeys since next { operation command } } } }",
    request._id,
  );
  const diagnosisMs = performance.now() - diagnosedAt;
  if (kills) executors.push(await startExecutor());
  if (control === "pause")
    await ask("mutation ($id: ID!) { cancel(requestId: $id) { status } }", request._id);
  return {
    acceptedMs,
    lastCallMs: Math.max(0, ...after),
    callsAfter1s: after.filter((ms) => ms > 1_000).length,
    endedMs,
    diagnosisMs,
    diagnosisBytes: diagnosis.length,
  };
}

/** Kills the executor that holds the plan; the other one takes the plan over. */
async function killOwner(planId: PlanId): Promise<void> {
  const owner = (await system.store.getPlan(TENANT, planId))?.lease?.owner ?? "";
  const [killed] = executors.filter(({ pid }) => owner.split(":").includes(String(pid)));
  executors = executors.filter((one) => one !== killed);
  await killed?.stop("SIGKILL");
}

/** An executor that knows its tools. */
async function startExecutor(): Promise<ServiceProcess> {
  const started = await system.startExecutor();
  while (!(await system.store.toolCatalogue()).some(({ name }) => name === "noop")) await delay(50);
  return started;
}

/**
 * A few lists that call a tool which answers at once.
 * @param waits - with a step that waits for approval, and one whose call is in doubt after half a second
 */
function busyPlan({ waits = false }: { waits?: boolean } = {}): Plan {
  const length = Math.min(10_000, Math.ceil(items / 4));
  const steps = Array.from({ length: Math.ceil(items / length) }, (_, index) => ({
    id: `list${index}`,
    forEach: {
      items: Array.from({ length }, (__, item) => item),
      concurrency: 64,
      do: { tool: "noop", arguments: { value: "<<item>>" } },
    },
  }));
  const waiting = [
    { id: "ask", tool: "noop", arguments: { value: 1 }, approval: true },
    { id: "lost", tool: "plain_effect", arguments: { value: 1 }, timeoutMs: 500 },
  ];
  const parsed = parsePlan({ steps: waits ? [...waiting, ...steps] : steps, policy: { maxParallel: 64 } });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** When the calls so far arrived at the tool, in Unix milliseconds. */
async function callTimes(): Promise<number[]> {
  const text = await readFile(callsFile, "utf8");
  return [...text.matchAll(/^\{"received":"[^"]*","at":(\d+)/gm)].map(([, at]) => Number(at));
}

/** Asks the API; returns the text of its answer. */
async function send(query: string, id: string): Promise<string> {
  const response = await fetch(api.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables: { id } }),
  });
  return response.text();
}

/** The same, for operations that must succeed. */
async function ask(query: string, id: string): Promise<string> {
  const text = await send(query, id);
  if (text.startsWith('{"errors"')) say(text);
  return text;
}
