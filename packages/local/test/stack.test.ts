import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, graphql } from "@planwright/client";
import { bundledServices } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { exampleSentence, followToEnd, runDemo, sendSentence } from "../src/commands/run-demo.ts";
import { type Stack, startStack } from "../src/index.ts";

const {
  MONGODB_URL: _mongodb,
  REDIS_URL: _redis,
  MODEL: _model,
  MCP_SERVERS_FILE: _file,
  ...env
} = process.env;

/** Bundled services start in a third of the time; the tests of npm start run their builds. */
const mains = bundledServices("api", "planner", "executor", "blog-tools");

function folder(): string {
  return mkdtempSync(join(tmpdir(), "planwright-stack-"));
}

let dataDir: string;
let stack: Stack;
beforeAll(async () => {
  dataDir = folder();
  stack = await startStack({ dataDir, env, mains });
});
afterAll(async () => {
  await stack?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

async function demo(sentence: string): Promise<{ isCompleted: boolean; shown: string }> {
  const lines: string[] = [];
  const { isCompleted } = await runDemo(stack, sentence, {
    say: (line) => void lines.push(line),
    shownUrl: stack.apiUrl,
  });
  return { isCompleted, shown: lines.join("\n") };
}

test("the example creates an author, and a blog with the id of the author", async () => {
  const { isCompleted, shown } = await demo(exampleSentence(1));
  expect(isCompleted).toBe(true);
  expect(shown).toMatch(/createAuthor {2}COMPLETED {2}\d+ ms/);
  expect(shown).toMatch(/createBlog {2}COMPLETED {2}\d+ ms/);
  expect(shown).toContain("<<createAuthor._id>>");
  expect(shown).toMatch(/Request: {3}req_\d{10}_[a-z0-9]+/);
  const client = new MongoClient(stack.blogMongodbUrl);
  onTestFinished(() => client.close());
  const author = await client.db().collection("authors").findOne({ email: "alice-1@test.com" });
  const blog = await client.db().collection("blogs").findOne({ title: "Hello" });
  expect(String(blog?.["authorId"])).toBe(String(author?.["_id"]));
});

test("client.run returns what a sentence or a plan led to, with outputs and diagnosis", async () => {
  const client = createClient({ url: stack.apiUrl });
  const asked = await client.run(exampleSentence(2));
  expect(asked).toMatchObject({ status: "COMPLETED", diagnosis: { cause: { code: "COMPLETED" } } });

  // No step has the same members as the others: this compiles without a type.
  const plan = {
    steps: [
      { id: "author", tool: "createAuthor", arguments: { name: "Ada", email: "ada-3@test.com" } },
      { id: "all", tool: "listAuthors", dependsOn: ["author"] },
    ],
    outputs: ["author"],
  };
  const { requestId, status, plan: ended } = await client.run(plan, { tags: ["nightly"] });
  expect({ status, outputs: ended?.outputs }).toMatchObject({
    status: "COMPLETED",
    outputs: { author: { name: "Ada", email: "ada-3@test.com" } },
  });
  expect(await client.request(requestId)).toMatchObject({
    tags: ["nightly"],
    plan: { planId: ended?.planId },
  });

  // The e-mail address belongs to an author now.
  const failed = await client.run(plan);
  expect(failed).toMatchObject({ status: "FAILED", diagnosis: { cause: { code: "STEP_FAILED" } } });

  const key = "the-same-submission";
  const first = await client.submit(plan, { execute: false, idempotencyKey: key });
  expect(await client.submit(plan, { execute: false, idempotencyKey: key })).toBe(first);
  await expect(client.run({ steps: [{ id: "a", tool: "noSuchTool" }] })).rejects.toMatchObject({
    facts: { code: "PLAN_INVALID" },
  });
});

/** The form of a rules file of Prometheus, as far as ours uses it. */
const RulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string().regex(/^planwright-/),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Planwright[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(["page", "ticket"]) }),
          annotations: z.strictObject({ summary: z.string(), guide: z.string() }),
        }),
      ),
    }),
  ),
});

/** A dashboard of Grafana, as far as ours uses it. */
const DashboardSchema = z.object({
  title: z.string(),
  panels: z.array(
    z.object({
      title: z.string(),
      type: z.enum(["row", "stat", "timeseries"]),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
});

/** The metrics of a query. */
const metricsOf = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:planwright|nodejs|process)_\w+/g)].map(([name]) => name.replace(/_bucket$/, ""));

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

test("the guide lists all metrics of the running system, and alert rules and the dashboard use only these", async () => {
  const services = ["api", "planner", "executor"] as const;
  const texts = await Promise.all(
    services.map(async (name) => (await fetch(`${stack.healthUrls[name]}/metrics`)).text()),
  );
  const shown = new Set(
    texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)),
  );
  const ours = [...shown].filter((name) => name?.startsWith("planwright_"));
  expect(ours.length).toBeGreaterThan(40);

  const guide = read("docs/guides/deploy.md");
  const rows = guide.split("\n").filter((line) => line.startsWith("| `planwright_"));
  const listed = rows.flatMap((row) => [...(row.split(" | ")[0] ?? "").matchAll(/`(planwright_\w+)`/g)]);
  expect(new Set(listed.map(([, name]) => name))).toEqual(new Set(ours));
  expect(listed).toHaveLength(ours.length);

  const { groups } = RulesSchema.parse(parse(read("infra/monitoring/alerts.yml")));
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, annotations } of rules) {
    expect({ alert, unknown: metricsOf(expr).filter((name) => !shown.has(name)) }).toEqual({
      alert,
      unknown: [],
    });
    const [file, anchor = ""] = annotations.guide.split("#");
    const section = guide.split(/^#{2,3} /m).find((text) => anchorOf(text.split("\n")[0]) === anchor);
    expect({ alert, file, section }).toEqual({
      alert,
      file: "docs/guides/deploy.md",
      section: expect.stringContaining(`**${alert}**`),
    });
  }
  const { panels } = DashboardSchema.parse(JSON.parse(read("infra/monitoring/dashboard.json")));
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(20);
  expect(queries.flatMap((expr) => metricsOf(expr).filter((name) => !shown.has(name)))).toEqual([]);
  const alerts = [...guide.matchAll(/\*\*(Planwright[A-Z]\w+)\*\*/g)].map(([, alert]) => alert);
  expect(new Set(alerts)).toEqual(new Set(rules.map(({ alert }) => alert)));
});

/** The anchor of a heading on GitHub. */
function anchorOf(heading = ""): string {
  return heading.toLowerCase().replaceAll(" ", "-");
}

test("a failed plan is shown with the tool's message and skipped dependents, and the services keep running", async () => {
  const sentence =
    "Create author Ann with email ann@test.com, then create blog by Ann titled Hello about world";
  await demo(sentence);
  const { isCompleted, shown } = await demo(sentence);
  expect(isCompleted).toBe(false);
  expect(shown).toContain("createAuthor  FAILED");
  expect(shown).toContain("ann@test.com");
  expect(shown).toContain("Skipped because dependency 'createAuthor' failed");
  const pids = Object.values(stack.processes).map((process_) => process_?.pid());
  expect(pids).not.toContain(undefined);
});

test("a sentence that the drafter does not understand is refused", async () => {
  const { isCompleted, shown } = await demo("sing me a song");
  expect(isCompleted).toBe(false);
  expect(shown).toContain("NOT_UNDERSTOOD");
});

test("a plan accepted while executor and Redis are dead completes after their restart", async () => {
  await stack.processes.executor.kill();
  await stack.processes.redis?.kill();
  const sentence =
    "Create author Eve with email eve@test.com, then create blog by Eve titled Hello about world";
  const requestId = await sendSentence(stack, sentence);
  await stack.processes.executor.restart();
  await stack.processes.redis?.restart();
  const request = await followToEnd(stack, requestId, () => undefined);
  expect(request.status).toBe("COMPLETED");
});

test("one process works without Redis, installs none, and has separate data beside another system", async () => {
  const dir = folder();
  const alone = await startStack({
    dataDir: dir,
    env: { ...env, PATH: dir },
    mains: bundledServices("planwright", "blog-tools"),
    isTogether: true,
  });
  onTestFinished(async () => {
    await alone.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  expect([alone.redisUrl, alone.processes.redis]).toEqual([undefined, undefined]);
  expect([alone.apiUrl, alone.mongodbUrl]).not.toContain(stack.apiUrl);
  const query = graphql(`{ requests { nodes { requestId } } }`);
  const { requests } = await createClient({ url: alone.apiUrl }).execute(query, {});
  expect(requests.nodes).toEqual([]);
  const requestId = await sendSentence(alone, exampleSentence(2));
  const { status } = await followToEnd(alone, requestId, () => undefined);
  expect(status).toBe("COMPLETED");
});

test("a second stack of separate processes has separate data and addresses", {
  tags: ["proof"],
}, async () => {
  const dir = folder();
  const other = await startStack({ dataDir: dir, env, mains });
  onTestFinished(async () => {
    await other.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  expect([other.apiUrl, other.mongodbUrl, other.redisUrl]).not.toContain(stack.apiUrl);
  const query = graphql(`{ requests { nodes { requestId } } }`);
  const { requests } = await createClient({ url: other.apiUrl }).execute(query, {});
  expect(requests.nodes).toEqual([]);
});

test("a stack that cannot start reports which service failed and why, and leaves no process running", async () => {
  const dir = folder();
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const messages: string[] = [];
  const starting = startStack({
    dataDir: dir,
    env,
    settings: { api: { LOG_LEVEL: "loud" } },
    say: (line) => void messages.push(line),
  });
  await expect(starting).rejects.toThrow(/api exited with code 1.*LOG_LEVEL/s);
  const [port] = /(?<="port":)\d+/.exec(readFileSync(join(dir, "logs", "mongo.log"), "utf8")) ?? [];
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, { serverSelectionTimeoutMS: 200 });
  await expect(client.db().command({ ping: 1 })).rejects.toThrow();
  await client.close();
});
