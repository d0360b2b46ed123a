import { randomInt } from "node:crypto";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createClient, graphql } from "@planwright/client";
import { holdFolder } from "../data-folders.ts";
import { localFetch } from "../local-fetch.ts";
import { freePort, isPortFree } from "../ports.ts";
import { apiPortOf, WrongSettingsError } from "../start-service.ts";
import { persistently, type Stack, startStack } from "../start-stack.ts";
import { DATA_DIR, forgetAddress, printError, stopOnSignals, writeAddress } from "./program.ts";
import { exampleSentence, isDefaultAddress } from "./run-demo.ts";

const QUERY = graphql(`{ toolServers { name state error stderrTail } }`);

/**
 * Lines about the tool servers that are not connected: the reason, and the last lines of their processes;
 * empty if all are connected.
 */
async function missingServers({ apiUrl, apiKey }: Pick<Stack, "apiUrl" | "apiKey">): Promise<string[]> {
  const client = createClient({ url: apiUrl, token: apiKey, fetch: localFetch });
  const { toolServers } = await persistently(() => client.execute(QUERY, {}));
  const missing = toolServers.filter(({ state }) => state !== "CONNECTED");
  if (missing.length === 0) return [];
  return [
    "Tool servers that are not connected; each is tried again by itself:",
    ...missing.flatMap(({ name, error, stderrTail }) => [
      `  ${name}  ${stripVTControlCharacters(error ?? "has not answered yet")}`,
      ...(stderrTail === null
        ? []
        : stderrTail.split("\n").map((line) => `    | ${stripVTControlCharacters(line)}`)),
    ]),
  ];
}

const say = (line: string) => console.log(line);

/**
 * PORT, or a free port when another program uses that one. Scripts may rely on PORT, so a change is printed
 * clearly; the start does not fail.
 * @throws {WrongSettingsError} when this user may not listen there
 */
async function choosePort(wanted: number): Promise<number> {
  const isFree = await isPortFree(wanted).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `PORT is ${wanted}, where this user may not listen (${reason}): set it to one above 1023`;
    throw new WrongSettingsError(message, { service: "api" });
  });
  if (isFree) return wanted;
  const port = await freePort();
  say(`
  !! Port ${wanted} is taken by another program.
  !! This system answers on port ${port} instead; programs that expect the other port reach that other program.
`);
  return port;
}

/** How to make a key; empty when the API needs none. */
function keyLines({ apiKey, mongodbUrl }: Stack): string {
  if (apiKey === undefined) return "";
  const make = `npx planwright keys create --tenant ${process.env["TENANT"] || "default"} --scope read,execute,operate --name me`;
  return `
Only callers with an API key are answered (ANONYMOUS=refuse). Make one in the terminal that you use:
  export PLANWRIGHT_API_KEY="$(MONGODB_URL='${mongodbUrl}' ${make})"
`;
}

function curlOf({ apiUrl, apiKey }: Stack): string {
  const query = `mutation { createPlanWithRequestId(query: \\"${exampleSentence(randomInt(1_000, 1_000_000))}\\") { requestId planId toolOrder } }`;
  const authorization = apiKey === undefined ? "" : ` -H "authorization: Bearer $PLANWRIGHT_API_KEY"`;
  return `curl -s ${apiUrl} -H 'content-type: application/json'${authorization} -d '{"query": "${query}"}'`;
}

function cliLines(apiUrl: string): string {
  const address = isDefaultAddress(apiUrl) ? "" : `  export PLANWRIGHT_URL=${apiUrl}\n`;
  return `${address}  npx planwright run "${exampleSentence(randomInt(1_000, 1_000_000))}"`;
}

/** The address of GraphiQL; empty with GRAPHIQL=off. */
async function graphiqlLine(apiUrl: string): Promise<string> {
  const { href } = new URL("/graphiql", apiUrl);
  const response = await localFetch(href);
  return response.ok ? `\n  GraphiQL ${href}` : "";
}

/** The addresses for monitoring: `/healthz`, `/readyz` and `/metrics` of each process of ours. */
function healthLines({ healthUrls }: Stack, processes: number): string {
  const lines = Object.entries(healthUrls).map(([name, url]) => `${url}/readyz  ${name}`);
  const others = Array.from({ length: processes - 1 }, (_, index) => {
    const url = new URL(healthUrls.executor);
    url.port = String(Number(url.port) + index + 1);
    return `${url.origin}/readyz  process ${index + 2}`;
  });
  return [...lines, ...others, "with /metrics in place of /readyz: figures for Prometheus"].join(
    "\n           ",
  );
}

/**
 * `planwright up`: starts the complete system on this machine, and prints how to use it. It runs until Ctrl-C or
 * SIGTERM. Data stays in `.data/planwright` (`DATA_DIR`). Several processes run all roles behind one port.
 * A start that fails prints what to change and ends the process with 1.
 */
export async function up({ processes }: { processes: number }): Promise<void> {
  let stack: Stack | undefined;
  const stop = stopOnSignals(() => stack);
  try {
    const wantedPort = apiPortOf(process.env);
    if (!(await holdFolder(DATA_DIR))) {
      say("Planwright is already running from this folder. Stop it there with Ctrl-C first.");
      process.exit(1);
    }
    forgetAddress();
    say("Starting MongoDB, the blog tools, the executor, the planner and the API ...");
    stack = await startStack({
      dataDir: DATA_DIR,
      apiPort: await choosePort(wantedPort),
      isTogether: true,
      processes,
      isSupervised: true,
      say,
    });
    writeAddress(stack.apiUrl);
    say(await runningText(stack, processes));
  } catch (error) {
    printError(error);
    await stop();
    process.exit(1);
  }
}

/** What a user needs to know about the running system. */
async function runningText(stack: Stack, processes: number): Promise<string> {
  const missing = await missingServers(stack);
  return `
Planwright is running.
  Console  ${new URL("/console", stack.apiUrl).href}
  GraphQL  ${stack.apiUrl}${await graphiqlLine(stack.apiUrl)}
  MongoDB  ${stack.mongodbUrl}
  Redis    ${stack.redisUrl ?? "not used: one process needs none"}
  Health   ${healthLines(stack, processes)}
  Logs     ${join(DATA_DIR, "logs")}
  Model    ${process.env["MODEL"] || "offline (rules, no key needed; set MODEL for a real one)"}

${missing.map((line) => `${line}\n`).join("")}${missing.length > 0 ? "\n" : ""}${keyLines(stack)}From another terminal:
${cliLines(stack.apiUrl)}

Make a plan with curl:
  ${curlOf(stack)}

Ctrl-C stops everything; the data stays.`;
}
