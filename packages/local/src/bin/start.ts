#!/usr/bin/env node
// npm start: the whole system on this machine until Ctrl-C. Data stays in .data/start.
import { join } from "node:path";
import { freePort } from "../children/free-port.ts";
import { isPortFree } from "../children/is-port-free.ts";
import { holdFolder } from "../stack/hold-folder.ts";
import { type Stack, startStack } from "../stack/start-stack.ts";
import { stopOnSignals, tellError } from "./terminal.ts";

const DATA_DIR = join(".data", "start");
const API_PORT = 4000;
const say = (line: string) => console.log(line);

/** PORT, or 4000, or a free one: scripts may count on it, and nothing fails because someone else was first. */
async function choosePort(): Promise<number> {
  const wished = Number(process.env["PORT"] || API_PORT);
  if (Number.isInteger(wished) && wished > 0 && wished < 65_536 && (await isPortFree(wished))) return wished;
  say(`Port ${process.env["PORT"] || API_PORT} is taken, so the API gets another one.`);
  return freePort();
}

function curlOf(apiUrl: string): string {
  const sentence = "Create author Bob with email bob@test.com, then create blog by Bob titled Hi about code";
  const query = `mutation { createPlanWithRequestId(query: \\"${sentence}\\") { requestId planId toolOrder } }`;
  return `curl -s ${apiUrl} -H 'content-type: application/json' -d '{"query": "${query}"}'`;
}

/** Where operations can be tried in a browser; nothing with GRAPHIQL=off. */
async function graphiqlLine(apiUrl: string): Promise<string> {
  const { href } = new URL("/graphiql", apiUrl);
  const response = await fetch(href);
  await response.body?.cancel();
  return response.ok ? `\n  GraphiQL ${href}` : "";
}

let stack: Stack | undefined;
const stop = stopOnSignals(() => stack);
try {
  if (!(await holdFolder(DATA_DIR))) {
    say("Planwright is already running from this folder. Stop it there with Ctrl-C first.");
    process.exit(1);
  }
  say("Starting MongoDB, Redis, the blog tools, the executor, the planner and the API ...");
  stack = await startStack({ dataDir: DATA_DIR, apiPort: await choosePort(), say });
  say(`
Planwright is running.
  GraphQL  ${stack.apiUrl}${await graphiqlLine(stack.apiUrl)}
  MongoDB  ${stack.mongodbUrl}
  Redis    ${stack.redisUrl}
  Logs     ${join(DATA_DIR, "logs")}
  Model    ${process.env["MODEL"] || "offline (rules, no key needed; set MODEL for a real one)"}

Make a plan:
  ${curlOf(stack.apiUrl)}

Ctrl-C stops everything; the data stays.`);
} catch (error) {
  tellError(error);
  await stop();
  process.exit(1);
}
