/**
 * The order of claims and their cost in a very long queue: the real queue of hints on a real Redis, and
 * simulated executors with the real slots, in simulated time.
 *
 * npm run bench -- claim-order [--waiting 1000000] [--executors 100] [--tenants 100] [--json]
 *
 * One tenant has half of the waiting plans. The exit code is 1 when a plan waits longer than the bound: with
 * `k` plans of its own tenant before it and `n` tenants, at most `(k + 2) * n` claims, without those of
 * executors that had to pass over its tenant; or when a tenant's plans are not claimed in the order of priority and age.
 */
import { placeInLine } from "@planwright/plan";
import { createFairQueue, createSlots, type QueuedHint } from "@planwright/queue";
import { Redis } from "ioredis";
import { developerCommand, print, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { createRandom } from "../random/random.ts";
import { startServers } from "../servers/servers.ts";
import { perSecond } from "./figures.ts";

const options = developerCommand("bench -- claim-order", "Measures claims in a very long queue.")
  .option("--waiting <number>", "plans", wholeNumberOption(1_000, 10_000_000), 1_000_000)
  .option("--executors <number>", "simulated processes of 64 slots", wholeNumberOption(1, 1_000), 100)
  .option("--tenants <number>", "tenants; one has half of the plans", wholeNumberOption(2, 10_000), 100)
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ waiting: number; executors: number; tenants: number; json: boolean }>();

const SLOTS = 64;
/** Plans that are pushed at once. */
const BATCH = 1_000;
/** Plans arrived within this time before the first claim, in milliseconds: longer than priorities age. */
const ARRIVALS_MS = 3_600_000;
/** Shortest and longest work on a plan, in simulated rounds. */
const ROUNDS = { least: 1, most: 20 };

const servers = await startServers();
const client = new Redis(servers.redisUrl);
const queue = createFairQueue(client, "order", "execution");
const random = createRandom(1);
const tenantOf = (index: number): string =>
  `tenant${index % 2 === 0 ? 0 : random.whole(1, options.tenants - 1)}`;

/** Mean time of one script in Redis since the last call, in microseconds. */
async function scriptMicroseconds(): Promise<number> {
  const info = await client.info("commandstats");
  await client.config("RESETSTAT");
  return Number(/^cmdstat_evalsha:.*usec_per_call=([\d.]+)/m.exec(info)?.[1] ?? 0);
}

const lines = new Map<string, QueuedHint[]>();
const pushedFrom = performance.now();
for (let first = 0; first < options.waiting; first += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, options.waiting - first) }, (_, offset): QueuedHint => {
    const priority = random.pick(["low", "normal", "normal", "high"] as const);
    const place = placeInLine(random.whole(0, ARRIVALS_MS), priority);
    return { id: `plan_${first + offset}`, tenant: tenantOf(first + offset), place };
  });
  for (const hint of batch) {
    const line = lines.get(hint.tenant);
    if (line) line.push(hint);
    else lines.set(hint.tenant, [hint]);
  }
  await Promise.all(batch.map((hint) => queue.push(hint)));
}
const pushesPerSecond = perSecond(options.waiting, performance.now() - pushedFrom);
const pushMicroseconds = await scriptMicroseconds();
say(`${options.waiting} hints pushed, ${pushesPerSecond} a second, ${pushMicroseconds} µs each in Redis`);

const executors = Array.from({ length: options.executors }, () => ({
  slots: createSlots({ max: SLOTS, isShared: () => true }),
  /** Releases of the slots, by the round in which the work ends. */
  ends: new Map<number, (() => void)[]>(),
}));
const claimed = new Map<string, QueuedHint[]>();
/** Number of claims by executors that had to pass over a tenant, because it had its share of their slots. */
const passedOver = new Map<string, number>();
let claims = 0;
let takes = 0;
let longest = { ratio: 0, claims: 0, ahead: 0, tenant: "" };
let wrongOrder = 0;

function note(hint: QueuedHint): void {
  claims += 1;
  const mine = claimed.get(hint.tenant) ?? [];
  const before = mine.at(-1);
  if (before && before.place > hint.place) wrongOrder += 1;
  const waitedFor = claims - (passedOver.get(hint.tenant) ?? 0);
  const ratio = waitedFor / ((mine.length + 2) * lines.size);
  if (ratio > longest.ratio) longest = { ratio, claims: waitedFor, ahead: mine.length, tenant: hint.tenant };
  mine.push(hint);
  claimed.set(hint.tenant, mine);
}

async function work({ slots, ends }: (typeof executors)[number], round: number): Promise<void> {
  for (const release of ends.get(round) ?? []) release();
  ends.delete(round);
  while (slots.free() > 0) {
    const full = slots.full();
    takes += 1;
    const hint = await queue.take(full);
    if (!hint) return;
    for (const tenant of full) passedOver.set(tenant, (passedOver.get(tenant) ?? 0) + 1);
    const release = slots.take(hint.tenant);
    if (!release) throw new TypeError(`${hint.tenant} got a turn without a slot`);
    note(hint);
    const end = round + random.whole(ROUNDS.least, ROUNDS.most);
    ends.set(end, [...(ends.get(end) ?? []), release]);
  }
}

const takenFrom = performance.now();
let firstMicroseconds = 0;
for (let round = 0; claims < options.waiting; round += 1) {
  await Promise.all(executors.map((executor) => work(executor, round)));
  if (round === 0) firstMicroseconds = await scriptMicroseconds();
  if (round % 100 === 0) say(`round ${round}: ${claims} claims`);
}
const figures = {
  waiting: options.waiting,
  executors: options.executors,
  tenants: lines.size,
  pushesPerSecond,
  pushMicroseconds,
  claimsPerSecond: perSecond(claims, performance.now() - takenFrom),
  takesPerClaim: takes / claims,
  takeMicroseconds: { ofTheFirst: firstMicroseconds, ofTheOthers: await scriptMicroseconds() },
  longestWaitToBound: longest,
  wrongOrder,
};
if (options.json) printJson(figures);
else print(JSON.stringify(figures, null, 2));
if (longest.ratio > 1 || wrongOrder > 0) process.exitCode = 1;
client.disconnect();
await servers.stop();
