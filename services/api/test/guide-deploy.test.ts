/**
 * The deployment guide: commands that need no Docker are run, and the rest is compared with
 * docker-compose.yml.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { PLAN_LIFECYCLE, REQUEST_LIFECYCLE, STARTED_PLAN_STATUSES } from "@planwright/plan";
import { createStore } from "@planwright/store";
import { readmeBlocks, testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { parseKeysCommand, runKeysCommand } from "../src/access/keys-command.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const GUIDE = "docs/guides/deploy.md";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const BLOCKS = readmeBlocks(ROOT, GUIDE);
const LINES = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text }) =>
  text.trim().split("\n"),
);
const COMPOSE = read("docker-compose.yml");

const KEYS =
  /^(?:docker compose exec api|kubectl exec deploy\/planwright-api --) node \.\.\/api\/dist\/bin\/operate\.js keys (.*)$/;
const KUBECTL = /^kubectl (?:create secret generic (planwright\S*)|apply -k (\S+)|label namespace) ?/;
const QUERY = /^docker compose exec mongo mongosh --quiet planwright --eval '(.*)'$/;
const CURL = /^curl -s http:\/\/127\.0\.0\.1:4000(\/\S+)$/;
const SETTING = /^([A-Z_]+)=\S+$/;
const DOCKER = /^docker compose (?:up|ps|build|stop|exec|run) ?(.*)$/;
/** They need another machine and a registry. */
const NOT_RUN = ["ssh -N -L 4000:127.0.0.1:4000 you@server.example.org", "git pull"];

const partsOf = (form: RegExp) => LINES.flatMap((line) => form.exec(line)?.[1] ?? []);

async function started(): Promise<RunningApi> {
  const running = await startTestApi();
  onTestFinished(() => running.close());
  return running;
}

async function database(): Promise<Db> {
  const url = testServers().mongodbUrl;
  await (await createStore({ url })).close();
  const client = await MongoClient.connect(url);
  onTestFinished(() => client.close());
  return client.db();
}

test("each line of the guide is run or compared by these tests", () => {
  const kinds = [KEYS, QUERY, CURL, SETTING, DOCKER, KUBECTL];
  expect(LINES.filter((line) => !kinds.some((kind) => kind.test(line)))).toEqual(NOT_RUN);
  const others = BLOCKS.filter(({ language }) => language !== "sh").map(({ text }) => text.split("\n")[0]);
  expect(others).toEqual(["planwright.example.org {"]);
});

test("docker-compose.yml has each service of the commands, and reads each setting of the file .env", () => {
  const names = [...COMPOSE.matchAll(/^ {2}([a-z-]+):$/gm)].map(([, name]) => name);
  const named = LINES.flatMap((line) => {
    const [, args = ""] = DOCKER.exec(line) ?? [];
    const scaled = [...args.matchAll(/--scale ([a-z-]+)=/g)].map(([, name]) => name);
    const executed = /^docker compose (?:exec (?:-T )?|run (?:--\S+ |\.\S+ )*)([a-z-]+)/.exec(line)?.[1];
    const stopped = /^docker compose stop (.*)$/.exec(line)?.[1]?.split(" ") ?? [];
    return [...scaled, ...stopped, ...(executed ? [executed] : [])];
  });
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
  const settings = partsOf(SETTING);
  expect(settings).toHaveLength(7);
  expect(settings.filter((name) => !COMPOSE.includes(`\${${name}:-`))).toEqual([]);
});

test("the commands for Kubernetes name the secrets and the folder that there are", () => {
  const named = LINES.flatMap((line) => KUBECTL.exec(line)?.slice(1).filter(Boolean) ?? []);
  expect(named).toEqual(["planwright", "planwright-secrets", "infra/kubernetes"]);
  const executor = read("infra/kubernetes/executor.yaml");
  expect(executor).toContain("secretRef: { name: planwright }");
  expect(executor).toContain("secretName: planwright-secrets");
});

test("the programs in the guide and in docker-compose.yml are there", () => {
  const programs = [...`${read(GUIDE)}${COMPOSE}`.matchAll(/api\/dist\/(bin\/[\w-]+)\.js/g)];
  expect(programs).not.toEqual([]);
  for (const [, program] of programs)
    expect(existsSync(join(ROOT, `services/api/src/${program}.ts`))).toBe(true);
});

test("the commands for keys create keys with the scopes of the guide, and revoke one", async () => {
  const { store } = await started();
  const printed: string[] = [];
  const output = { print: (text: string) => void printed.push(text), say: () => undefined };
  for (const args of partsOf(KEYS)) {
    const [key] = await store.listApiKeys();
    const typed = args.replace(/key_[a-z]+/, key?._id ?? "");
    const command = parseKeysCommand(typed.split(" "), Date.now());
    expect(command).toBeDefined();
    if (command) await runKeysCommand(command, store, output);
  }
  const keys = await store.listApiKeys();
  expect(keys.map(({ tenant, name }) => `${tenant}/${name}`).toSorted()).toEqual([
    "acme/ann",
    "acme/ci",
    "acme/jobs",
  ]);
  expect(keys.filter(({ revokedAt }) => revokedAt instanceof Date)).toHaveLength(1);
});

test("the endpoints answer", async () => {
  const running = await started();
  const answers = await Promise.all(partsOf(CURL).map((path) => running.send(path)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[0]?.body).toMatchObject({ missing: ["planner", "executor"] });
  expect(answers[1]?.text).toContain("planwright_api_overloaded_total");
});

test("the queries return the format in the guide, and count the unfinished work", async () => {
  const db = await database();
  const collection = (name: string) => ({
    findOne: (filter: object) => db.collection(name).findOne(filter),
    countDocuments: (filter: object) => db.collection(name).countDocuments(filter),
  });
  const names = { meta: collection("meta"), plans: collection("plans"), requests: collection("requests") };
  const dropDatabase = () => db.dropDatabase();
  const ask = (query = ""): Promise<unknown> => runInNewContext(query, { db: { ...names, dropDatabase } });
  const [format, plans, requests, drop, ...others] = partsOf(QUERY);
  expect(others).toEqual([]);
  const [, version] = /This version writes format (\d+)\./.exec(read(GUIDE)) ?? [];
  expect(await ask(format)).toEqual({ _id: "format", version: Number(version) });

  const documents = (table: object) =>
    Object.keys(table).map((status) => ({ requestId: status, planId: status, status }));
  await db.collection("plans").insertMany(documents(PLAN_LIFECYCLE));
  await db.collection("requests").insertMany(documents(REQUEST_LIFECYCLE));
  expect(await ask(plans)).toBe(STARTED_PLAN_STATUSES.length);
  expect(STARTED_PLAN_STATUSES.filter((status) => !plans?.includes(`"${status}"`))).toEqual([]);
  expect(await ask(requests)).toBe(1);
  await ask(drop);
  expect(await db.listCollections().toArray()).toEqual([]);
});
