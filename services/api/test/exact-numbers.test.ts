/**
 * Values that programs like to change, through API, executor and real tool servers: numbers that a double would
 * change, names such as `__proto__`, and halves of characters. The tests compare what the servers received, and
 * what clients read; numbers as texts, because JSON.parse would hide the loss.
 */
import { readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@planwright/plan";
import { type System, startSystem } from "@planwright/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";

const ID = "7205759403792793601";
const SUM = "0.1234567890123456789";
const TOOLS = [
  { name: "find", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } },
  {
    name: "share",
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "integer", maximum: 1e19 },
        name: { type: "string" },
        sum: { type: "number" },
      },
    },
  },
];
const GIVE = { name: "give", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } };
/** Names and texts that a program may lose, change, or take for something else. */
const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "_bsontype",
  "$ref",
  "$id",
  "a.b",
  "\ud800",
  "k\udc00",
  "",
  "nul\0",
  "\u202ea",
  "name",
];
const TEXTS = [
  "\ud83d",
  "\udc00\ud800",
  "a\0b",
  "🙂",
  "\u202e",
  "",
  "\ufdd0" + "7",
  "$(x)",
  "__proto__",
  "é",
];
const { value: HOSTILE } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<JsonValue>(...TEXTS, null, true, 1.5),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie("value")), { maxLength: 4 })
      // Own members, whatever their names.
      .map((members) => Object.fromEntries(members)),
  ),
}));
const GIVEN = fc.sample(
  fc.tuple(fc.constantFrom(...NAMES), HOSTILE).map(([name, value]) => Object.fromEntries([[name, value]])),
  { numRuns: 40, seed: 30 },
);

/** Answers one line of JSON-RPC. Its text is also the program of the server over stdio. */
function answerOf(line: string, found: string, tools: object[]): string {
  const { id, method } = JSON.parse(line);
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "1" },
    },
    "tools/list": { tools },
  };
  const isFind = method === "tools/call" && line.includes('"find"');
  const result = isFind ? found : JSON.stringify(results[method] ?? { content: [] });
  return id === undefined ? "" : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}
const FOUND = `{"id":${ID},"name":${ID},"sum":${SUM},"all":[1.5,${ID}]}`;

/** The bodies that the server over HTTP received. */
const bodies: string[] = [];
const ledger = join(tmpdir(), `planwright-numbers-${process.pid}.jsonl`);
let http: Server;
let system: System;

beforeAll(async () => {
  http = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => {
      text += String(part);
    });
    request.on("end", () => {
      bodies.push(text);
      const given = /"name":"give","arguments":\{"at":(\d+)\}/.exec(text)?.[1];
      const found = given === undefined ? FOUND : JSON.stringify(GIVEN[Number(given)]);
      const line = given === undefined ? text : text.replace('"give"', '"find"');
      const structured = `{"content":[],"structuredContent":${found}}`;
      const body = request.method === "POST" ? answerOf(line, structured, [...TOOLS, GIVE]) : "";
      if (body === "") return void response.writeHead(request.method === "POST" ? 202 : 405).end();
      const isCall = text.includes("tools/call");
      response.writeHead(200, { "content-type": isCall ? "text/event-stream" : "application/json" });
      response.end(isCall ? `event: message\ndata: ${body}\n\n` : body);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const text = JSON.stringify({ content: [{ type: "text", text: FOUND }] });
  const script = `const answer = ${answerOf.toString()};
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      require("node:fs").appendFileSync(${JSON.stringify(ledger)}, line + "\\n");
      const text = answer(line, ${JSON.stringify(text)}, ${JSON.stringify(TOOLS)});
      if (text) process.stdout.write(text + "\\n");
    });`;
  system = await startSystem({
    api: { MCP: "on" },
    mcpServers: {
      web: { url: `http://127.0.0.1:${port}/mcp` },
      // In the servers file, `${` begins the name of a variable.
      pipe: { command: process.execPath, args: ["-e", script.replaceAll("${", () => "$${")] },
    },
  });
});
afterAll(async () => {
  await system?.close();
  http.close();
  await rm(ledger, { force: true });
});

/** The arguments of the calls of a tool that a server received, as it received them. */
async function received(server: string, tool = "share"): Promise<string[]> {
  const lines = server === "web" ? bodies : (await readFile(ledger, "utf8")).split("\n");
  return lines.flatMap(
    (line) => new RegExp(`"name":"${tool}","arguments":(\\{.*?\\})`).exec(line)?.[1] ?? [],
  );
}

/** Sends a body as it is. @returns the text of the answer */
async function post(body: string, path = "graphql", accept = "application/json"): Promise<string> {
  const response = await fetch(system.apiUrl.replace(/graphql$/, path), {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body,
  });
  return await response.text();
}

const bodyOf = (query: string, variables: string) =>
  `{"query":${JSON.stringify(query)},"variables":${variables}}`;
const PARTS =
  "requestId status plan { id status document plan outputs executionResults steps { key approvalHash arguments resolvedArguments output } }";

async function until(requestId: string, status: string): Promise<string> {
  const body = bodyOf(`query ($id: ID!) { request(requestId: $id) { ${PARTS} } }`, `{"id":"${requestId}"}`);
  for (let tries = 0; tries < 200; tries += 1) {
    const text = await post(body);
    if (text.includes(status)) return text;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new TypeError(`${requestId} does not become ${status}: ${await post(body)}`);
}

async function submit(plan: string): Promise<string> {
  const text = await post(
    bodyOf("mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }", `{"plan":${plan}}`),
  );
  const id = /"requestId":"(req_[^"]+)"/.exec(text)?.[1];
  if (id === undefined) throw new TypeError(text);
  return id;
}

const chain = (server: string) =>
  `{"steps":[{"id":"find","tool":"${server}/find","arguments":{}},{"id":"share","tool":"${server}/share","arguments":{"id":"<<find.id>>","name":"<<find.name>>","sum":"<<find.all[1]>>"}},{"id":"said","tool":"${server}/share","arguments":{"id":${ID},"name":"note <<find.id>>","sum":${SUM}},"dependsOn":["share"]}],"outputs":{"found":"<<find>>"}}`;
const SHARED = [`{"id":${ID},"name":"${ID}","sum":${ID}}`, `{"id":${ID},"name":"note ${ID}","sum":${SUM}}`];

test.each(["web", "pipe"])(
  "ids keep their digits from the client to the tools of %s, and back",
  async (server) => {
    const text = await until(await submit(chain(server)), '"status":"COMPLETED"');
    expect(await received(server)).toEqual(SHARED);
    // As values, as JSON texts, and nowhere with another number.
    expect(text).toContain(`"outputs":{"found":${FOUND}}`);
    expect(text).toContain(`"output":${FOUND}`);
    expect(text).toContain(`"resolvedArguments":${SHARED[0]}`);
    expect(text).toContain(`"arguments":{"id":${ID},"name":"note <<find.id>>","sum":${SUM}}`);
    expect(text).toContain(`\\"id\\":${ID}`);
    expect(text).not.toMatch(/7205759403792794|0\.12345678901234568|\uFDD0/);
  },
);

test("a rerun after the end uses the digits of the stored output", async () => {
  const requestId = await submit(
    '{"steps":[{"id":"find","tool":"web/find","arguments":{}},{"id":"again","tool":"web/find","arguments":{"id":"<<find.id>>"}}]}',
  );
  await until(requestId, '"status":"COMPLETED"');
  const text = await post(
    bodyOf(
      'mutation ($id: ID!) { rerun(requestId: $id, from: "again") { plan { version } } }',
      `{"id":"${requestId}"}`,
    ),
  );
  expect(text).toContain('"version":2');
  await until(requestId, '"status":"COMPLETED"');
  expect((await received("web", "find")).slice(-3)).toEqual(["{}", `{"id":${ID}}`, `{"id":${ID}}`]);
});

test("an approved call gets the digits that were shown", async () => {
  const requestId = await submit(
    `{"steps":[{"id":"share","tool":"web/share","arguments":{"id":${ID}},"approval":true}]}`,
  );
  const shown = await until(requestId, '"approvalHash":"');
  expect(shown).toContain(`"resolvedArguments":{"id":${ID}}`);
  await post(
    bodyOf(
      'mutation ($id: ID!, $hash: String!) { approve(requestId: $id, stepId: "share", approvalHash: $hash) { status } }',
      `{"id":"${requestId}","hash":"${/"approvalHash":"([^"]+)"/.exec(shown)?.[1]}"}`,
    ),
  );
  await until(requestId, '"status":"COMPLETED"');
  expect((await received("web")).at(-1)).toBe(`{"id":${ID}}`);
});

test.each([
  [
    "a literal in the document",
    (plan: string) => `{"query":${JSON.stringify(`{ validatePlan(plan: ${plan}) { valid plan } }`)}}`,
  ],
  [
    "JSON text",
    (plan: string) =>
      bodyOf(
        "query ($plan: JSON!) { validatePlan(plan: $plan) { valid plan } }",
        `{"plan":${JSON.stringify(plan.replace(/(\w+):(?=[[{"\d])/g, '"$1":'))}}`,
      ),
  ],
])("a plan keeps the digits in %s", async (_, bodyWith) => {
  const text = await post(bodyWith(`{steps:[{id:"s",tool:"web/share",arguments:{id:${ID}}}]}`));
  expect(text).toContain('"valid":true');
  expect(text).toMatch(new RegExp(`"id":${ID}|\\\\"id\\\\":${ID}`));
});

test("a value that is not allowed is refused with its digits", async () => {
  const text = await post(
    bodyOf(
      "query ($plan: JSON!) { validatePlan(plan: $plan) { valid diagnostics { message } } }",
      `{"plan":{"steps":[{"id":"s","tool":"web/share","arguments":{"id":10000000000000000001}}]}}`,
    ),
  );
  expect(text).toContain('"valid":false');
  expect(text).toContain("must be <= 10000000000000000000");
});

test("events, sockets and the MCP facade show the digits", async () => {
  const requestId = await submit(chain("web"));
  await until(requestId, '"status":"COMPLETED"');
  const query = `subscription ($id: ID!) { requestUpdated(requestId: $id) { ${PARTS} } }`;
  const payload = bodyOf(query, `{"id":"${requestId}"}`);
  expect(await post(payload, "graphql/stream", "text/event-stream")).toContain(`"found":${FOUND}`);

  const socket = new WebSocket(system.apiUrl.replace("http", "ws"), "graphql-transport-ws");
  const next = await new Promise<string>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () => socket.send('{"type":"connection_init"}'));
    socket.on("message", (data) => {
      const message = String(data);
      if (message.includes('"connection_ack"'))
        socket.send(`{"id":"1","type":"subscribe","payload":${payload}}`);
      if (message.includes('"next"')) resolve(message);
    });
  });
  socket.close();
  expect(next).toContain(`"found":${FOUND}`);

  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_tool_plan","arguments":{"plan":${chain("web")}}}}`;
  const report = await post(call, "mcp", "application/json, text/event-stream");
  expect(report).toContain(`"found":${FOUND}`);
  expect(report).toContain(JSON.stringify(`"found":${FOUND}`).slice(1, -1));
  expect(report).not.toContain("\uFDD0");
  expect((await received("web")).slice(-2)).toEqual(SHARED);
});

/** The arguments `all` of the calls with this mark, by its number. */
function keptBy(mark: string): Map<number, JsonValue> {
  const kept = new Map<number, JsonValue>();
  for (const body of bodies) {
    if (!body.includes(`"${mark}"`)) continue;
    const { at, all } = JSON.parse(body).params.arguments;
    kept.set(at, all);
  }
  return kept;
}

test("what a tool returned reaches the next tool, and the client, as it came", async () => {
  const steps = GIVEN.flatMap((_, at) => [
    { id: `give${at}`, tool: "web/give", arguments: { at } },
    { id: `keep${at}`, tool: "web/share", arguments: { mark: "returned", at, all: `<<give${at}>>` } },
  ]);
  const requestId = await submit(JSON.stringify({ steps }));
  const text = await until(requestId, '"status":"COMPLETED"');
  const kept = keptBy("returned");
  const read = new Map<string, JsonValue>(
    JSON.parse(text).data.request.plan.steps.map((step: { key: string; output: JsonValue }) => [
      step.key,
      step.output,
    ]),
  );
  for (const [at, given] of GIVEN.entries()) {
    expect(JSON.stringify(kept.get(at))).toBe(JSON.stringify(given));
    expect(JSON.stringify(read.get(`give${at}`))).toBe(JSON.stringify(given));
  }
  expect(Object.hasOwn(Object.prototype, "name")).toBe(false);
});

test("what a client writes reaches the tool as it was written, or is refused by its path", async () => {
  const mayBeRefused = (value: JsonValue): boolean =>
    /"(__proto__|_bsontype|\$ref|\$id|nul\\u0000)":|\\ud[89a-f]/.test(JSON.stringify(value));
  const refusals: string[] = [];
  const sent = new Map<number, JsonValue>();
  for (const [at, all] of GIVEN.entries()) {
    const plan = { steps: [{ id: "s", tool: "web/share", arguments: { mark: "written", at, all } }] };
    const query =
      "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId plan { status diagnostics { message } } } }";
    const text = await post(bodyOf(query, `{"plan":${JSON.stringify(plan)}}`));
    const isAccepted = /"status":"(QUEUED|RUNNING|COMPLETED)"/.test(text);
    if (!mayBeRefused(all)) expect(text).toMatch(/"status":"(QUEUED|RUNNING|COMPLETED)"/);
    if (!isAccepted) refusals.push(text);
    else {
      sent.set(at, all);
      await until(/"requestId":"(req_[^"]+)"/.exec(text)?.[1] ?? "", '"status":"COMPLETED"');
    }
  }
  const kept = keptBy("written");
  for (const [at, all] of sent) expect(JSON.stringify(kept.get(at))).toBe(JSON.stringify(all));
  expect(kept.size).toBe(sent.size);
  expect(refusals.length).toBeGreaterThan(3);
  for (const text of refusals) expect(text).toMatch(/steps\[0\]\.arguments\.all|NUL character/);
});
