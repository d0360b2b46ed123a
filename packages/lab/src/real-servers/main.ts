/**
 * Tries the whole system with third-party MCP servers from npm: connects all of them at once, lists their
 * tools, and runs one plan on each through the API.
 *
 * npm run proof:servers -- [--only github slack] [--update]
 *
 * `--update` writes the digests of the reviewed contracts (packages/tools) for the pinned versions. Prints a table, and one JSON object as the last line. The exit code is 1 when a server did not connect or a
 * plan did not end as servers.ts declares. The packages are installed into `.data/proof-servers`, without
 * their scripts. Where the npm registry cannot be reached, it says so and exits with 0.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, createClient, graphql, type ResultOf } from "@planwright/client";
import { startMongo, startRedis, startStack } from "@planwright/local";
import { isJsonObject, type JsonObject } from "@planwright/plan";
import { chromiumPath } from "../../../../services/console/test/open-browser.ts";
import { inputDigest } from "../../../tools/src/config/known-contracts.ts";
import { REVIEWED_CONTRACTS } from "../../../tools/src/config/reviewed-contracts.ts";
import { REVIEWED_DIGESTS } from "../../../tools/src/config/reviewed-digests.ts";
import {
  alignColumns,
  developerCommand,
  print,
  printJson,
  say,
  wordsOption,
} from "../command/developer-command.ts";
import { areInstalled, installPackages } from "../servers/servers.ts";
import { REAL_SERVERS, type RealServer, type ServerPlace } from "./servers.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const CACHE = join(ROOT, ".data", "proof-servers");
const LOCAL_NETWORK = new URL("../../../../infra/scripts/local-network-only.mjs", import.meta.url);
const DIGESTS = fileURLToPath(new URL("../../../tools/src/config/reviewed-digests.ts", import.meta.url));
/** How the report of a contract begins where a reviewed contract is used. */
const REVIEWED = "reviewed contract of";
/** Longest wait for all servers together, in milliseconds: they start at once, on few cores. */
const CONNECT_MS = 150_000;
/** Plans that run at once: two of them start a browser. */
const MAX_PLANS = 4;
/** Longest that one plan may take, in milliseconds. */
const PLAN_MS = 60_000;
/** After this time the run is given up, in milliseconds; installing is not counted. */
const LIMIT_MS = 240_000;

const CATALOGUE = graphql(`{
  toolServers { name leftOutCount state error stderrTail }
  getAvailableTools { name server annotations inputSchema outputSchema contractReport { fields { why } } }
}`);
const SUBMIT = graphql(`mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }`);
const READ = graphql(`query ($requestId: ID!) { request(requestId: $requestId) {
  status
  plan {
    outputs
    diagnostics { code message stepId }
    steps { key status error { code message } }
  }
} }`);
type Ended = NonNullable<ResultOf<typeof READ>["request"]>;
type Catalogue = ResultOf<typeof CATALOGUE>;

/** What one server did. */
interface Row {
  server: string;
  package: string;
  connected: boolean;
  tools: number;
  leftOut: number;
  hints: number;
  outputSchemas: number;
  /** Tools with a reviewed contract of ours. */
  reviewed: number;
  /** How its plan ended, such as "COMPLETED" or "FAILED TOOL_FAILED". */
  ended: string;
  /** Why it is not as declared; null for a server that did what it should. */
  problem: string | null;
}

const { only = [], update } = developerCommand("proof:servers", "Tries the system with MCP servers from npm.")
  .option("--only <name...>", "only these servers", wordsOption(Object.keys(REAL_SERVERS)), [])
  .option("--update", "write the digests of the reviewed contracts for the pinned versions", false)
  .parse(process.argv.slice(2), { from: "user" })
  .opts<{ only?: string[]; update: boolean }>();
const startedAt = performance.now();
if (install()) {
  setTimeout(() => {
    say(`The run was given up after ${LIMIT_MS / 1_000} s`);
    process.exit(1);
  }, LIMIT_MS).unref();
  const servers = Object.entries(REAL_SERVERS).filter(([name]) => only.length === 0 || only.includes(name));
  const rows = await tryAll(servers);
  if (!update) report(rows);
  process.exit(rows.some(({ problem }) => problem !== null) ? 1 : 0);
}

/** @returns false where the packages are not installed yet and the registry cannot be reached */
function install(): boolean {
  const packages = Object.fromEntries(Object.values(REAL_SERVERS).map((one) => [one.package, one.version]));
  const options = { folder: CACHE, packages, what: "third-party MCP servers (about 1.3 GB)" };
  if (!areInstalled(options)) {
    const [first = "", version = ""] = Object.entries(packages)[0] ?? [];
    const probe = spawnSync("npm", ["view", `${first}@${version}`, "version", "--fetch-retries=0"], {
      timeout: 30_000,
      cwd: tmpdir(),
    });
    if (probe.status !== 0) {
      print("Skipped: the npm registry cannot be reached, so no third-party server can be installed");
      printJson({ skipped: true });
      return false;
    }
  }
  installPackages(options);
  return true;
}

async function tryAll(servers: readonly [string, RealServer][]): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "planwright-proof-"));
  const work = join(CACHE, "work");
  rmSync(work, { recursive: true, force: true });
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const [mongo, redis] = await Promise.all([startMongo({ dataDir, env }), startRedis({ dataDir, env })]);
  const page = await servePage();
  const common = {
    pageUrl: page.url,
    mongodbUrl: mongo.url,
    redisUrl: redis.url,
    chromium: await chromiumPath(),
  };
  const placeOf = (name: string): ServerPlace => ({ ...common, folder: join(work, name) });
  const mcpServers = Object.fromEntries(
    servers.map(([name, server]) => [name, startOf(server, placeOf(name))]),
  );
  const serversFile = join(dataDir, "third-party.json");
  writeFileSync(serversFile, JSON.stringify({ mcpServers }));
  const stack = await startStack({
    dataDir,
    env: { ...env, MONGODB_URL: mongo.url, REDIS_URL: redis.url, MCP_SERVERS_FILE: serversFile },
    settings: { executor: { CONNECT_TIMEOUT_MS: String(CONNECT_MS) } },
    serversTimeoutMs: CONNECT_MS,
    say,
  });
  try {
    const client = createClient({ url: stack.apiUrl, token: stack.apiKey });
    const catalogue = await client.execute(CATALOGUE, {});
    saySince(`${catalogue.getAvailableTools.length} tools are listed`);
    if (update) {
      writeDigests(servers, catalogue);
      return [];
    }
    return await inTurns(servers, async ([name, server]) => {
      const problem = problemOfServer(catalogue, name) ?? problemOfReview(catalogue, name, server);
      const ended = problem === null ? await runPlan(client, server.steps(placeOf(name))) : null;
      return {
        server: name,
        package: `${server.package}@${server.version}`,
        connected: isConnected(catalogue, name),
        ...countsOf(catalogue, name),
        leftOut: catalogue.toolServers.find((one) => one.name === name)?.leftOutCount ?? 0,
        ended: ended === null ? "" : endOf(ended),
        problem: problem ?? problemOfEnd(ended, server),
      };
    });
  } finally {
    page.server.close();
    await stack.stop();
    await Promise.all([mongo.kill(), redis.kill()]);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The results in the order of the servers, with a few of them at work at once. */
async function inTurns<One, Result>(
  all: readonly One[],
  work: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...all.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: MAX_PLANS }, worker));
  return results;
}

/** Makes the folder of a server. @returns its entry of the servers file */
function startOf(server: RealServer, place: ServerPlace): object {
  mkdirSync(place.folder, { recursive: true });
  for (const [name, text] of Object.entries(server.files ?? {}))
    writeFileSync(join(place.folder, name), text);
  return {
    // Less processor time than our own services: 26 servers that start at once would keep them from starting.
    command: "nice",
    args: ["-n", "15", join(CACHE, "node_modules", ".bin", server.bin), ...(server.args?.(place) ?? [])],
    cwd: place.folder,
    ...(REVIEWED_CONTRACTS[server.package] ? { contracts: `known:${server.package}` } : {}),
    env: {
      HOME: place.folder,
      NODE_OPTIONS: `--import=${LOCAL_NETWORK.href}`,
      ...server.env?.(place),
    },
  };
}

async function servePage(): Promise<{ url: string; server: Server }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>A page</title><p>What stands on it</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`, server };
}

function isConnected({ toolServers }: Catalogue, name: string): boolean {
  return toolServers.some((one) => one.name === name && one.state === "CONNECTED");
}

function problemOfServer({ toolServers, getAvailableTools }: Catalogue, name: string): string | null {
  const found = toolServers.find((one) => one.name === name);
  if (found?.state !== "CONNECTED")
    return `not connected: ${found?.error ?? found?.state ?? "unknown"} ${found?.stderrTail?.slice(-500) ?? ""}`;
  return getAvailableTools.some(({ server }) => server === name) ? null : "no tools are listed";
}

function countsOf({ getAvailableTools }: Catalogue, name: string) {
  const tools = getAvailableTools.filter(({ server }) => server === name);
  const hasHint = (annotations: unknown) =>
    typeof annotations === "object" && annotations !== null && "readOnlyHint" in annotations;
  return {
    tools: tools.length,
    hints: tools.filter(({ annotations }) => hasHint(annotations)).length,
    outputSchemas: tools.filter(({ outputSchema }) => outputSchema !== null).length,
    reviewed: tools.filter(({ contractReport }) =>
      contractReport.fields.some(({ why }) => why.startsWith(REVIEWED)),
    ).length,
  };
}

/** A reviewed contract that no longer fits the pinned version is not used. */
function problemOfReview(catalogue: Catalogue, name: string, server: RealServer): string | null {
  const wanted = Object.keys(REVIEWED_CONTRACTS[server.package]?.tools ?? {}).length;
  const { reviewed } = countsOf(catalogue, name);
  if (reviewed === wanted) return null;
  return `${reviewed} of ${wanted} reviewed contracts fit; review the tools again, then run npm run proof:servers -- --update`;
}

/** Writes reviewed-digests.ts of packages/tools; packages whose server did not connect keep their digests. */
function writeDigests(servers: readonly [string, RealServer][], { getAvailableTools }: Catalogue): void {
  const digests = { ...REVIEWED_DIGESTS };
  for (const [name, { package: packageName }] of servers) {
    const reviewed = REVIEWED_CONTRACTS[packageName];
    if (!reviewed) continue;
    const tools = getAvailableTools.filter(({ server }) => server === name);
    if (tools.length === 0) say(`${name} is not connected: its digests stay as they are`);
    if (tools.length === 0) continue;
    digests[packageName] = Object.fromEntries(
      Object.keys(reviewed.tools).flatMap((own) => {
        const tool = tools.find((one) => one.name === own || one.name === `${name}/${own}`);
        return isJsonObject(tool?.inputSchema) ? [[own, inputDigest(tool.inputSchema)]] : [];
      }),
    );
  }
  const text = readFileSync(DIGESTS, "utf8").replace(/= \{[^;]*;/, `= ${JSON.stringify(digests)};`);
  writeFileSync(DIGESTS, text);
  spawnSync(join(ROOT, "node_modules", ".bin", "biome"), ["format", "--write", DIGESTS], { cwd: ROOT });
  say(`The digests of ${Object.keys(digests).length} packages are written to ${DIGESTS}`);
}

/** Runs a plan until it has ended or an operator has to settle a doubt. */
async function runPlan(client: Client, steps: JsonObject[]): Promise<Ended> {
  const { submitPlan } = await client.execute(SUBMIT, { plan: { steps } });
  const deadlineAt = performance.now() + PLAN_MS;
  for (;;) {
    const ended = await client.readRequest(READ, submitPlan.requestId);
    const hasEnded = ended.status !== "EXECUTING" || isInDoubt(ended);
    if (hasEnded || performance.now() > deadlineAt) return ended;
    await delay(500);
  }
}

function isInDoubt({ plan }: Ended): boolean {
  return plan?.steps.some(({ status }) => status === "IN_DOUBT") ?? false;
}

/** How a plan ended, with the code of the first step that did not complete. */
function endOf(ended: Ended): string {
  const { status, plan } = ended;
  const failed = plan?.steps.find((step) => step.error !== null)?.error ?? plan?.diagnostics[0];
  const word = isInDoubt(ended) ? "IN_DOUBT" : status;
  return failed && status !== "COMPLETED" ? `${word} ${failed.code}` : word;
}

function problemOfEnd(ended: Ended | null, { ends }: RealServer): string | null {
  if (ended === null) return null;
  const outputs = JSON.stringify(ended.plan?.outputs ?? null);
  const reasons = [
    ...(ended.plan?.steps ?? []).flatMap(({ key, error }) => (error ? [`${key}: ${error.message}`] : [])),
    ...(ended.plan?.diagnostics ?? []).map(({ code, message }) => `${code}: ${message}`),
  ].join("; ");
  if ("as" in ends) {
    if (endOf(ended) === ends.as) return null;
    return `should have ended ${ends.as}, and ended ${endOf(ended)}: ${reasons || outputs.slice(0, 300)}`;
  }
  if (ended.status !== "COMPLETED") return `should have COMPLETED, and ended ${endOf(ended)}: ${reasons}`;
  if (outputs.includes(ends.shows) || outputs.includes(JSON.stringify(ends.shows).slice(1, -1))) return null;
  return `COMPLETED without ${ends.shows} in its outputs: ${outputs.slice(0, 500)}`;
}

function report(rows: readonly Row[]): void {
  const header = [
    "server",
    "connected",
    "tools",
    "left out",
    "hints",
    "output schemas",
    "reviewed",
    "ended",
    "as it should",
  ];
  const lines = alignColumns([
    header,
    ...rows.map((row) => [
      row.server,
      row.connected ? "yes" : "no",
      ...[row.tools, row.leftOut, row.hints, row.outputSchemas, row.reviewed].map(String),
      row.ended,
      row.problem === null ? "yes" : "NO",
    ]),
  ]);
  for (const line of lines) print(line);
  for (const { server, problem } of rows) if (problem !== null) print(`${server}: ${problem}`);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  printJson({
    servers: rows.length,
    connected: rows.filter(({ connected }) => connected).length,
    tools: sum(rows.map(({ tools }) => tools)),
    leftOut: sum(rows.map(({ leftOut }) => leftOut)),
    hints: sum(rows.map(({ hints }) => hints)),
    outputSchemas: sum(rows.map(({ outputSchemas }) => outputSchemas)),
    reviewed: sum(rows.map(({ reviewed }) => reviewed)),
    asDeclared: rows.filter(({ problem }) => problem === null).length,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    rows,
  });
}

function saySince(line: string): void {
  say(`${Math.round((performance.now() - startedAt) / 1_000)} s  ${line}`);
}
