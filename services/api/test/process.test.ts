import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { testServers } from "@planwright/testing";
import { afterEach, expect, test } from "vitest";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** The service as a process of its own. */
function start(env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ["--conditions=@planwright/source", "--import", "tsx", main], {
    env: { PATH: process.env["PATH"] ?? "", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  return child;
}

/** The address that the process logs once it is ready. */
async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const entry = JSON.parse(line);
    if (entry.msg === "api ready") return entry.url;
  }
  throw new TypeError("the service ended before it was ready");
}

async function post(url: string, query: string) {
  const body = JSON.stringify({ query });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return response.json();
}

test("the service starts, answers, and ends with code 0 on SIGTERM", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = start({ MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix });
  const url = await addressOf(child);
  child.stdout!.resume();
  expect(new URL(url).hostname).toBe("127.0.0.1");
  expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  const answer = await post(url, 'mutation { createPlan(query: "x") { status } }');
  expect(answer).toEqual({ data: { createPlan: { status: "PLANNING" } } });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("without Redis the service starts, accepts work, and ends in order", async () => {
  const { mongodbUrl } = testServers();
  const child = start({ MONGODB_URL: mongodbUrl, REDIS_URL: "redis://127.0.0.1:1" });
  const url = await addressOf(child);
  child.stdout!.resume();
  const answer = await post(url, 'mutation { createPlan(query: "x") { status } }');
  expect(answer).toEqual({ data: { createPlan: { status: "PLANNING" } } });
  expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("wrong settings end the service, naming each of them", async () => {
  const child = start({ PORT: "many", TENANT: "a b" });
  let text = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const [code] = await once(child, "close");
  expect(code).not.toBe(0);
  for (const name of ["MONGODB_URL", "REDIS_URL", "PORT", "TENANT"]) expect(text).toContain(name);
});
