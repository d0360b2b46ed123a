/** `--check PARTS`: connects to what the settings name and says what it found; starts and changes nothing. */
import { join } from "node:path";
import { readApi } from "@planwright/api";
import { readExecutorSettings } from "@planwright/executor";
import { CodedError, countText } from "@planwright/plan";
import { readPlannerSettings } from "@planwright/planner";
import { inspectRedis } from "@planwright/queue";
import { createAddressGuard, type RoleOptions } from "@planwright/runtime";
import { inspectDatabase } from "@planwright/store";
import { createToolClients, signedServers } from "@planwright/tools";

/** What one check found; `planwright doctor` reads it as one line of JSON. */
interface Found {
  name: string;
  state: "ok" | "warning" | "problem";
  text: string;
  /** What to do about it. */
  remedy?: string;
}

type Env = NodeJS.ProcessEnv;

/** A check: its name for people, and what it does. It rejects with a coded error for what cannot work. */
interface Check {
  title: string;
  run: (env: Env, title: string) => Promise<Found[]>;
}

const settingsCheck = (role: string, read: (env: Env, options: RoleOptions) => unknown): Check => ({
  title: `settings of the ${role}`,
  async run(env, name) {
    await read(env, { isAlone: isAlone(env) });
    return [{ name, state: "ok", text: "valid" }];
  },
});

const CHECKS: Readonly<Record<string, Check>> = {
  api: settingsCheck("API", readApi),
  planner: settingsCheck("planner", readPlannerSettings),
  executor: settingsCheck("executor", readExecutorSettings),
  database: { title: "database", run: checkDatabase },
  redis: {
    title: "redis",
    run: async ({ REDIS_URL: url = "" }, name) => [
      { name, state: "ok", text: `Redis ${await inspectRedis(url)}, which evicts no keys` },
    ],
  },
  model: { title: "model", run: checkModel },
  servers: { title: "tool servers", run: checkServers },
};

/** Names of the checks that `--check` takes, with commas between them. */
export const CHECK_NAMES: readonly string[] = Object.keys(CHECKS);

const isAlone = ({ REDIS_URL = "" }: Env): boolean => REDIS_URL.trim() === "";

/** Runs checks at the same time; reports what each found as soon as it has ended. */
export async function runChecks(
  names: readonly string[],
  env: Env,
  report: (found: Found) => void,
): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const check = CHECKS[name];
      if (!check) return;
      try {
        for (const found of await check.run(env, check.title)) report(found);
      } catch (error) {
        if (!(error instanceof CodedError)) throw error;
        report({ name: check.title, state: "problem", text: error.message });
      }
    }),
  );
}

/** Clocks that differ by more make people read wrong times, in milliseconds. */
const MAX_CLOCK_MS = 5_000;
/** Keys that expire sooner are named, in days. */
const SOON_DAYS = 7;
const DAY_MS = 86_400_000;

async function checkDatabase({ MONGODB_URL: url = "" }: Env, name: string): Promise<Found[]> {
  const { database, serverVersion, format, clockAheadMs, keys } = await inspectDatabase({ url });
  const used =
    format.found === null
      ? "not used yet"
      : format.conversions.length === 0
        ? "of this version's format"
        : `of format ${format.found}: a start converts it (planwright upgrade --check)`;
  const nowMs = Date.now() - clockAheadMs;
  const valid = keys.filter(
    ({ revokedAt, expiresAt }) => !revokedAt && (!expiresAt || expiresAt.getTime() > nowMs),
  );
  const soon = valid.filter(({ expiresAt }) => expiresAt && expiresAt.getTime() < nowMs + SOON_DAYS * DAY_MS);
  return [
    {
      name,
      state: "ok",
      text: `MongoDB ${serverVersion}, a replica set; database ${database} is ${used}`,
    },
    clockFound(clockAheadMs),
    {
      name: "API keys",
      ...(soon.length === 0
        ? { state: "ok", text: countText(valid.length, "valid key") }
        : {
            state: "warning",
            text: `${soon.length} of ${countText(valid.length, "valid key")} expire within ${SOON_DAYS} days: ${soon.map(({ name }) => name).join(", ")}`,
            remedy: "planwright keys create makes new ones",
          }),
    },
  ];
}

function clockFound(aheadMs: number): Found {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  if (Math.abs(aheadMs) <= MAX_CLOCK_MS)
    return { name: "clock", state: "ok", text: `within ${seconds} s of the database's` };
  return {
    name: "clock",
    state: "warning",
    text: `${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's: times in logs are wrong, leases and deadlines are not`,
    remedy: "synchronize the clocks of both machines (NTP)",
  };
}

/** The least that every provider accepts as the longest answer, in tokens. */
const TINY_ANSWER = "64";
/** Longest that the call may take, in milliseconds. */
const MODEL_MS = 30_000;

async function checkModel(env: Env, name: string): Promise<Found[]> {
  const tiny = { MODEL_MAX_OUTPUT_TOKENS: TINY_ANSWER, MODEL_MAX_RETRIES: "0" };
  const { drafter } = await readPlannerSettings({ ...env, ...tiny }, { isAlone: isAlone(env) });
  if (drafter.kind === "offline")
    return [{ name, state: "ok", text: "offline: sentences are planned by rules; MODEL names a model" }];
  const startedAt = performance.now();
  try {
    await drafter.answer({ query: "Say OK", results: [], signal: AbortSignal.timeout(MODEL_MS) });
  } catch (error) {
    // The model has answered, with more words than were asked for.
    if (!(error instanceof CodedError && error.code === "MODEL_ANSWER_TRUNCATED")) throw error;
  }
  const tookMs = Math.round(performance.now() - startedAt);
  return [{ name, state: "ok", text: `${drafter.name} answered a tiny call in ${tookMs} ms` }];
}

async function checkServers(env: Env): Promise<Found[]> {
  const settings = await readExecutorSettings(env, { isAlone: isAlone(env) });
  const startedAt = performance.now();
  const tookMs = new Map<string, number>();
  // Only executors have their tokens.
  const signed = signedServers(settings.servers);
  const others = Object.entries(settings.servers.mcpServers).filter(([server]) => !signed.has(server));
  const clients = createToolClients(
    { mcpServers: Object.fromEntries(others) },
    {
      connectTimeoutMs: settings.CONNECT_TIMEOUT_MS,
      startTimeoutMs: settings.CONNECT_TIMEOUT_MS,
      serversFolder: join(settings.DATA_DIR, "servers"),
      addresses: createAddressGuard(settings.OUTBOUND_ADDRESSES),
      onCatalogue: ({ server }) => tookMs.set(server, Math.round(performance.now() - startedAt)),
    },
  );
  try {
    await clients.start();
    const reached = clients.status();
    const slowest = [...tookMs].toSorted(([, one], [, other]) => other - one)[0]?.[0];
    const found = reached.map(({ server, state, tools, error, stderrTail }): Found => {
      const name = `tool server ${server}`;
      if (state !== "connected") {
        const said = stderrTail?.trim().split("\n").at(-1);
        const text = [error ?? "does not answer", ...(said ? [`it wrote: ${said}`] : [])].join("; ");
        return { name, state: "problem", text, remedy: "correct its entry in the file of MCP_SERVERS_FILE" };
      }
      const slow = server === slowest && reached.length > 1 ? ", the slowest" : "";
      const text = `${countText(tools, "tool")}, connected and listed in ${tookMs.get(server) ?? 0} ms${slow}`;
      return { name, state: "ok", text };
    });
    const text = "executors sign in at it; planwright sign-in says whether that is done";
    return [
      ...found,
      ...[...signed.keys()].map((server): Found => ({ name: `tool server ${server}`, state: "ok", text })),
    ];
  } finally {
    await clients.close();
  }
}
