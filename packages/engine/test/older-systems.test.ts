/** The behaviour of each of the five older systems in its own format: its plans, tools and results. */
import type { ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import {
  type Call,
  createVirtualClock,
  executeOrderedToolCalls,
  executeToolPlan,
  type RunnableTool,
  runPlan,
} from "../src/index.ts";

/** Answers calls by tool and records when they started; each takes 10 ms. */
function answering(answers: { [tool: string]: (args: { [name: string]: unknown }) => unknown }) {
  const clock = createVirtualClock();
  const seen: [string, number, object][] = [];
  const callTool = async ({ tool, arguments: args }: Call) => {
    seen.push([tool, clock.now(), args]);
    await clock.sleep(10);
    return answers[tool]?.(args) ?? null;
  };
  return { clock, seen, callTool };
}

const failure = (text: string) => ({ isError: true, content: [{ type: "text", text }] });

test("tool chaining: one call after the other in executionOrder, values put into text, results by tool", async () => {
  const tools: ToolDescriptor[] = [
    { name: "createAuthor", inputSchema: { type: "object", required: ["name", "email"] } },
    { name: "createBlog", inputSchema: { type: "object", required: ["title", "authorId"] } },
    { name: "addComment" },
  ];
  const plan = {
    plan: "Create the author first, then the blog with the author's id",
    tools: [
      {
        name: "createBlog",
        parameters: { title: "Hello", authorId: "{{createAuthor._id}}" },
        dependsOn: "createAuthor",
      },
      { name: "createAuthor", parameters: { name: "Alice", email: "alice@test.com" }, dependsOn: null },
      {
        name: "addComment",
        parameters: { text: "By {{createAuthor.name}}, {{createBlog.gone}}", blogId: "{{createBlog._id}}" },
        dependsOn: ["createBlog"],
      },
    ],
    executionOrder: ["createAuthor", "createBlog", "addComment"],
    outputMapping: { blogId: "{{createBlog._id}}" },
  };
  const { clock, seen, callTool } = answering({
    createAuthor: ({ name }) => ({ _id: "a1", name }),
    createBlog: ({ authorId }) => ({ _id: "b1", authorId }),
    addComment: () => ({ ok: true }),
  });
  const policy = { profile: "tool-chaining" } as const;
  const result = await runPlan(plan, { tools, callTool, clock, policy });
  expect(seen).toEqual([
    ["createAuthor", 0, { name: "Alice", email: "alice@test.com" }],
    ["createBlog", 10, { title: "Hello", authorId: "a1" }],
    ["addComment", 20, { text: "By Alice, {{createBlog.gone}}", blogId: "b1" }],
  ]);
  expect(result).toMatchObject({
    status: "COMPLETED",
    outputs: { createAuthor: { _id: "a1" }, createBlog: { authorId: "a1" }, addComment: { ok: true } },
  });

  const stopped = answering({ createAuthor: () => failure("no such domain") });
  const failed = await runPlan(plan, { tools, policy, callTool: stopped.callTool, clock: stopped.clock });
  expect(failed.status).toBe("FAILED");
  expect(stopped.seen).toHaveLength(1);
});

test("tool chaining: an author is deleted before another one with its email is created, though more waits for the latter", async () => {
  const emails = new Set(["alice@test.com"]);
  const { clock, seen, callTool } = answering({
    deleteAuthor: ({ email }) => ({ deleted: emails.delete(String(email)) }),
    createAuthor: ({ email }) => (emails.has(String(email)) ? failure("already exists") : { _id: "a2" }),
  });
  const plan = {
    tools: [
      { name: "createAuthor", parameters: { email: "alice@test.com" }, dependsOn: null },
      { name: "createBlog", parameters: { authorId: "{{createAuthor._id}}" }, dependsOn: "createAuthor" },
      { name: "deleteAuthor", parameters: { email: "alice@test.com" }, dependsOn: null },
    ],
    executionOrder: ["deleteAuthor", "createAuthor", "createBlog"],
  };
  const tools = plan.tools.map(({ name }) => ({ name }));
  for (const policy of [{ profile: "tool-chaining" }, {}] as const) {
    emails.add("alice@test.com");
    seen.length = 0;
    const result = await runPlan(plan, { tools, callTool, clock, policy });
    expect(seen.map(([name]) => name)).toEqual(["deleteAuthor", "createAuthor", "createBlog"]);
    expect(result.status).toBe("COMPLETED");
  }
});

test("tool planning: steps as JSON text, $ref into outputs, only output_steps are returned, failures and skips have reasons", async () => {
  const { clock, seen, callTool } = answering({
    search: ({ q }) => (q === "bad" ? failure("no index") : { hits: [{ id: 7 }, { id: 9 }], secret: 1 }),
    read: ({ id, lang }) => ({ text: `Page ${String(id)} ${String(lang)}` }),
  });
  const tool = executeToolPlan([{ name: "search" }, { name: "read" }], { callTool, clock });
  const steps = [
    { id: "s1", tool: "search", arguments: '{"q": "tea"}' },
    { id: "s2", tool: "read", arguments: '{"id": "$ref:s1.hits[1].id", "lang": "$ref:s1.lang"}' },
    { id: "s3", tool: "search", arguments: '{"q": "bad"}' },
    { id: "s4", tool: "read", arguments: '{"id": "$ref:s3.hits[0].id"}' },
  ];
  const result = await tool.execute({ steps, output_steps: ["s2", "s4"] });
  expect(result).toEqual({
    status: "PARTIAL",
    outputs: { s2: { text: "Page 9 null" } },
    errors: [
      { step: "s3", code: "TOOL_FAILED", message: "no index" },
      { step: "s4", code: "DEPENDENCY_FAILED", message: "Skipped because dependency 's3' failed" },
    ],
  });
  // Calls run in parallel unless a tool declares otherwise.
  expect(seen.map(([name, at]) => [name, at])).toEqual([
    ["search", 0],
    ["search", 0],
    ["read", 10],
  ]);
  for (const output_steps of [[], undefined]) {
    const all = await tool.execute({ steps: steps.slice(0, 2), output_steps });
    expect(Object.keys(all.outputs)).toEqual(["s1", "s2"]);
  }
  const wrapped = await tool.execute({ plan: { steps: steps.slice(0, 2), output_steps: ["s2"] } });
  expect(wrapped).toMatchObject({ status: "COMPLETED", outputs: { s2: { text: "Page 9 null" } } });
});

test("ordered calls: sequential tools separate the other calls, every call has its result or error and its duration", async () => {
  const clock = createVirtualClock();
  const started: string[] = [];
  const tool = (name: string, more: Partial<RunnableTool> = {}): RunnableTool => ({
    name,
    run: async ({ path }) => {
      started.push(`${name} ${String(path)} at ${clock.now()}`);
      await clock.sleep(10);
      if (path === "/missing") throw new TypeError("no such file");
      return `${name} ${String(path)}`;
    },
    ...more,
  });
  const tools = [tool("read"), tool("write", { sequential: true }), tool("index", { dependsOn: ["write"] })];
  const results = await executeOrderedToolCalls(
    [
      { id: "c1", name: "read", arguments: { path: "/a" } },
      { id: "c2", name: "read", arguments: { path: "/missing" } },
      { id: "c3", name: "write", arguments: { path: "/a" } },
      { id: "c4", name: "read", arguments: { path: "/a" } },
      { id: "c5", name: "index", arguments: { path: "/" }, after: ["c4"] },
    ],
    tools,
    { clock },
  );
  expect(started).toEqual([
    "read /a at 0",
    "read /missing at 0",
    "write /a at 10",
    "read /a at 20",
    "index / at 30",
  ]);
  expect(results).toEqual([
    { id: "c1", tool: "read", result: "read /a", durationMs: 10 },
    { id: "c2", tool: "read", isError: true, error: "no such file", durationMs: 10 },
    { id: "c3", tool: "write", result: "write /a", durationMs: 10 },
    { id: "c4", tool: "read", result: "read /a", durationMs: 10 },
    { id: "c5", tool: "index", result: "index /", durationMs: 10 },
  ]);
});

test("orchestrator: names, dependencies and provided fields order calls; outputs fill arguments; navigation first; a cycle is broken last", async () => {
  const tools: ToolDescriptor[] = [
    { name: "navigate", navigation: true },
    { name: "login", provides: ["token"] },
    { name: "loadProfile", inputSchema: { type: "object", required: ["token"], properties: { token: {} } } },
    { name: "log" },
    { name: "ping" },
    { name: "pong" },
  ];
  const calls = [
    { function: { name: "ping", arguments: "{}", dependencies: ["pong", "log"] } },
    { function: { name: "pong", arguments: "{}" }, dependencies: ["ping"] },
    { name: "loadProfile", arguments: {} },
    { name: "login", arguments: { user: "ann" }, provides: ["token"] },
    { name: "log", arguments: { what: "seen" }, depends_on: ["loadProfile", "neverCalled"] },
    { name: "navigate", arguments: { url: "/home" }, dependencies: ["log"] },
  ];
  const { clock, seen, callTool } = answering({
    login: () => ({ token: "T1", other: 1 }),
    loadProfile: ({ token }) => ({ name: "Ann", token }),
    pong: () => failure("no answer"),
  });
  const policy = { profile: "orchestrator" } as const;
  const result = await runPlan({ calls }, { tools, callTool, clock, policy });
  expect(seen.map(([name, at]) => [name, at])).toEqual([
    ["navigate", 0],
    ["login", 0],
    ["loadProfile", 10],
    ["log", 20],
    ["ping", 30],
    ["pong", 40],
  ]);
  expect(seen[2]?.[2]).toEqual({ token: "T1" });
  const statuses = Object.fromEntries(Object.entries(result.steps).map(([id, { status }]) => [id, status]));
  expect(statuses).toMatchObject({
    ping: "COMPLETED",
    pong: "FAILED",
    log: "COMPLETED",
    navigate: "COMPLETED",
  });
  expect(result.status).toBe("PARTIAL");
});

test.each<[string, object]>([
  ["inside function", { type: "function", function: { name: "use", dependencies: ["login"] } }],
  ["beside function", { type: "function", function: { name: "use" }, dependencies: "login" }],
  ["as a field that another tool provides", { name: "use", parameters: {}, depends_on: ["token"] }],
  ["in its schema", { name: "use", inputSchema: { type: "object", dependencies: ["login"] } }],
])("orchestrator: dependencies of a tool %s order its calls", async (_, use) => {
  const tools = [use, { type: "function", function: { name: "login", provides: ["token"] } }];
  const { clock, seen, callTool } = answering({});
  const result = await runPlan([{ name: "use" }, { name: "login" }], {
    tools: tools as ToolDescriptor[],
    callTool,
    clock,
    policy: { profile: "orchestrator" },
  });
  expect([result.status, ...seen.map(([name]) => name)]).toEqual(["COMPLETED", "login", "use"]);
});

test("contract: modes, limits and error_propagation of x-orchestration decide, a tool without a contract runs alone", async () => {
  const contract = (name: string, declared: object): ToolDescriptor => ({
    name,
    inputSchema: { type: "object", "x-orchestration": { ...declared } },
  });
  const tools = [
    contract("look", { mode: "parallel-safe", side_effects: false, error_propagation: "partial-success" }),
    contract("fan", { mode: "fan-out-bounded", max_concurrency: 2, side_effects: false }),
    contract("report", { mode: "dependent", depends_on: [{ tool: "look", required_fields: ["id"] }] }),
    { name: "silent" },
  ];
  const steps = [
    ...[1, 2, 3].map((n) => ({ id: `look${n}`, tool: "look", arguments: {} })),
    ...[1, 2, 3].map((n) => ({ id: `fan${n}`, tool: "fan", arguments: {} })),
    ...[1, 2].map((n) => ({ id: `silent${n}`, tool: "silent", arguments: {} })),
    { id: "report", tool: "report", arguments: {} },
  ];
  const { clock, seen, callTool } = answering({ look: () => ({ id: 1 }) });
  const result = await runPlan({ steps }, { tools, callTool, clock, policy: { profile: "contract" } });
  const at = (name: string) => seen.flatMap(([tool, from]) => (tool === name ? [from] : []));
  expect([at("look"), at("fan"), at("silent"), at("report")]).toEqual([[0, 0, 0], [0, 0, 10], [0, 10], [10]]);
  expect(result.status).toBe("COMPLETED");

  const failing = answering({ look: () => failure("gone"), fan: () => 1 });
  const partial = await runPlan(
    { steps: [steps[0], steps[3]] },
    { tools, callTool: failing.callTool, clock: failing.clock, policy: { profile: "contract" } },
  );
  expect(partial.status).toBe("PARTIAL");
});

test.each<[string, string, unknown, boolean]>([
  ["the path", "results[*].document_id", { results: [{ document_id: 7 }] }, true],
  ["the path in some items only", "results[*].document_id", { results: [{ document_id: 7 }, {}] }, false],
  ["the name below a list", "document_id", { results: [{ hit: { document_id: 7 } }] }, true],
  ["the name in a text of JSON", "document_id", '{"results":[{"document_id":7}]}', true],
  ["another name", "document_id", { results: [{ documentId: 7 }] }, false],
  ["only an inherited name", "constructor", { results: [] }, false],
])(
  "contract: a call is made when the output before it has %s, and otherwise not",
  async (_, field, output, isMade) => {
    const tools: ToolDescriptor[] = [
      { name: "search" },
      { name: "read", depends_on: [{ tool: "search", required_fields: [field] }] },
    ];
    const { clock, seen, callTool } = answering({ search: () => output });
    const steps = [
      { id: "read", tool: "read" },
      { id: "search", tool: "search" },
    ];
    const result = await runPlan({ steps }, { tools, callTool, clock, policy: { profile: "contract" } });
    expect(seen.map(([name]) => name)).toEqual(isMade ? ["search", "read"] : ["search"]);
    expect(result.steps["read"]?.error?.code).toBe(isMade ? undefined : "CONTRACT_FIELD_MISSING");
  },
);

test("contract: a required field of a list's tool is looked for in the results of its items", async () => {
  const tools: ToolDescriptor[] = [
    { name: "search" },
    { name: "read", depends_on: [{ tool: "search", required_fields: ["id", "status"] }] },
  ];
  const { clock, callTool } = answering({ search: () => ({ id: 1 }) });
  const steps = [
    { id: "all", forEach: { items: [1, 2], do: { tool: "search" } } },
    { id: "read", tool: "read" },
  ];
  const result = await runPlan({ steps }, { tools, callTool, clock });
  expect(result.steps["read"]?.error?.message).toContain("it needs status of search");
});
