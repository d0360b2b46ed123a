/**
 * The complete system as a new user starts it: every service is a separate process, and the tests use only
 * GraphQL.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, graphql, type ResultOf } from "@planwright/client";
import type { JsonValue } from "@planwright/plan";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Stack, startStack } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FINAL = ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "NEEDS_INPUT"];
let folder: string;
let stack: Stack;

beforeAll(async () => {
  // Services run from their build; a current build takes a moment.
  const build = spawnSync(join(ROOT, "node_modules", ".bin", "turbo"), ["run", "build"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (build.status !== 0) throw new TypeError(`${build.stdout}\n${build.stderr}`);
  folder = mkdtempSync(join(tmpdir(), "planwright-e2e-"));
  const everything = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-everything/package.json",
  );
  const serversFile = join(folder, "mine.json");
  writeFileSync(
    serversFile,
    JSON.stringify({
      mcpServers: {
        everything: {
          command: process.execPath,
          args: [join(dirname(everything), "dist", "index.js")],
          // Set by the operator: this tool has no side effects, so its call may be repeated.
          tools: { "trigger-long-running-operation": { side_effects: false } },
        },
      },
    }),
  );
  stack = await startStack({
    dataDir: join(folder, "data"),
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], MCP_SERVERS_FILE: serversFile },
    settings: { executor: { DEAD_AFTER_MS: "3000" } },
  });
});

afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

const READ = graphql(`query ($requestId: ID!) {
  request(requestId: $requestId) {
    status error { code message }
    plan { status steps { key status tool arguments resolvedArguments output error { code message } } }
  }
}`);
const CREATE = graphql(`mutation ($query: String!) { accepted: createPlan(query: $query) { requestId } }`);
const SUBMIT = graphql(`mutation ($plan: JSON!) { accepted: submitPlan(plan: $plan) { requestId } }`);
type ReadRequest = NonNullable<ResultOf<typeof READ>["request"]>;
type Step = NonNullable<ReadRequest["plan"]>["steps"][number];

const client = () => createClient({ url: stack.apiUrl });
const read = (requestId: string) => client().readRequest(READ, requestId);

async function end(requestId: string): Promise<{ status: string; steps: Map<string, Step>; error: unknown }> {
  await expect.poll(async () => (await read(requestId)).status).toSatisfy((status) => FINAL.includes(status));
  const { status, plan, error } = await read(requestId);
  return { status, error, steps: new Map(plan?.steps.map((step) => [step.key, step])) };
}

async function ask(query: string): Promise<string> {
  return (await client().execute(CREATE, { query })).accepted.requestId;
}

async function submit(plan: JsonValue): Promise<string> {
  return (await client().execute(SUBMIT, { plan })).accepted.requestId;
}

/** Reads the database of the blog tools. */
async function inBlog<T>(look: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(stack.blogMongodbUrl);
  try {
    return await look(client);
  } finally {
    await client.close();
  }
}

describe("a sentence", () => {
  test("becomes a readable plan, which creates an author and a blog of that author", async () => {
    const { status, steps } = await end(
      await ask(
        "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world",
      ),
    );
    expect(status).toBe("COMPLETED");
    const [author, blog] = [steps.get("createAuthor"), steps.get("createBlog")];
    expect(blog?.arguments).toEqual({ title: "Hello", content: "world", authorId: "<<createAuthor._id>>" });
    const authorId = z.object({ _id: z.string() }).parse(author?.output)._id;
    expect(blog?.resolvedArguments).toEqual({ title: "Hello", content: "world", authorId });
    const stored = await inBlog((client) => client.db().collection("blogs").findOne({ title: "Hello" }));
    expect(String(stored?.["authorId"])).toBe(authorId);
  });

  test("of three parts becomes a chain of three", async () => {
    const { status, steps } = await end(
      await ask(
        "Create author Charlie with email c@test.com, create blog by Charlie about Kubernetes, then add a comment to that blog saying Great post",
      ),
    );
    expect(status).toBe("COMPLETED");
    expect([...steps.values()].map(({ tool }) => tool)).toEqual([
      "createAuthor",
      "createBlog",
      "createComment",
    ]);
    expect(steps.get("createComment")?.arguments).toEqual({
      blogId: "<<createBlog._id>>",
      authorId: "<<createAuthor._id>>",
      content: "Great post",
    });
  });

  test("with two authors gives the blog to the one that was named", async () => {
    const { status, steps } = await end(
      await ask(
        "Create authors Ann with email ann@test.com and Bob with email bob@test.com, then create blog by Ann titled Hi about code",
      ),
    );
    expect(status).toBe("COMPLETED");
    const authors = [...steps.values()].filter(({ tool }) => tool === "createAuthor");
    expect(authors.map(({ resolvedArguments }) => resolvedArguments)).toEqual([
      { name: "Ann", email: "ann@test.com" },
      { name: "Bob", email: "bob@test.com" },
    ]);
    const ann = z.object({ _id: z.string() }).parse(authors[0]?.output)._id;
    expect(steps.get("createBlog")?.resolvedArguments).toMatchObject({ authorId: ann });
  });

  test("whose tool refuses ends FAILED with the tool's message, and the dependent step is SKIPPED with the reason", async () => {
    const sentence =
      "Create author Dora with email dora@test.com, then create blog by Dora titled One about two";
    expect((await end(await ask(sentence))).status).toBe("COMPLETED");
    const { status, steps } = await end(await ask(sentence));
    expect(status).toBe("FAILED");
    expect(steps.get("createAuthor")).toMatchObject({
      status: "FAILED",
      error: { code: "TOOL_FAILED", message: expect.stringContaining("dora@test.com") },
    });
    expect(steps.get("createBlog")).toMatchObject({
      status: "SKIPPED",
      error: { message: "Skipped because dependency 'createAuthor' failed" },
    });
  });

  test("that is not understood is refused with the reason", async () => {
    const { status, error } = await end(await ask("Make me a sandwich"));
    expect(status).toBe("FAILED");
    expect(error).toMatchObject({
      code: "NOT_UNDERSTOOD",
      message: expect.stringContaining("Make me a sandwich"),
    });
  });
});

describe("a process that is killed", () => {
  const slow = { id: "wait", tool: "trigger-long-running-operation", arguments: { duration: 2, steps: 2 } };
  const author = (email: string) => ({
    id: "author",
    tool: "createAuthor",
    arguments: { name: "Eve", email },
    dependsOn: ["wait"],
  });

  test("an executor in the middle of a plan: the plan completes after the restart, and nothing is done twice", async () => {
    const requestId = await submit({ steps: [slow, author("eve@test.com")] });
    await expect.poll(async () => (await read(requestId)).plan?.steps[0]?.status).toBe("RUNNING");
    await stack.processes.executor.kill("SIGKILL");
    await stack.processes.executor.restart();
    const { status } = await end(requestId);
    expect(status).toBe("COMPLETED");
    expect(
      await inBlog((client) => client.db().collection("authors").countDocuments({ email: "eve@test.com" })),
    ).toBe(1);
  });

  test("the planner before a sentence was sent: the sentence is planned after the restart", async () => {
    await stack.processes.planner.kill("SIGKILL");
    const requestId = await ask("Create author Finn with email finn@test.com");
    expect((await read(requestId)).status).toBe("PLANNING");
    await stack.processes.planner.restart();
    expect((await end(requestId)).status).toBe("COMPLETED");
  });

  test("Redis: sentences are accepted, planned and executed without it", async () => {
    await stack.processes.redis?.kill("SIGKILL");
    const requestId = await ask("Create author Gus with email gus@test.com");
    expect((await end(requestId)).status).toBe("COMPLETED");
    await stack.processes.redis?.restart();
    expect((await end(await ask("Create author Hal with email hal@test.com"))).status).toBe("COMPLETED");
  });

  test("MongoDB in the middle of a plan: the plan completes after the restart, and nothing is done twice", async () => {
    const requestId = await submit({ steps: [slow, author("ivy@test.com")] });
    await expect.poll(async () => (await read(requestId)).plan?.steps[0]?.status).toBe("RUNNING");
    await stack.processes.mongo.kill("SIGKILL");
    await stack.processes.mongo.restart();
    const { status } = await end(requestId);
    expect(status).toBe("COMPLETED");
    const count = await inBlog((client) =>
      client.db().collection("authors").countDocuments({ email: "ivy@test.com" }),
    );
    expect(count).toBe(1);
  });
});
