/** `planwright` where files, answers and connections are not as they should be. The API is a small server here. */
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { requestOf } from "./fixtures/requests.ts";
import { planwright } from "./planwright.ts";

const ID = "req_1700000000_abcdefghijklmnopqrst";

interface Asked {
  query: string;
  variables: { [name: string]: unknown; requests?: unknown[] };
}

/**
 * A server with an answer to each operation: `data`, an error, or undefined to close the connection.
 * @param get - answers anything that is no operation
 */
async function apiWith(
  answerTo: (asked: Asked, times: number) => object | undefined,
  get: (response: ServerResponse) => void = (response) => void response.writeHead(404).end(),
) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "POST") return get(response);
    void (async () => {
      if (request.url !== "/graphql") return void response.writeHead(404).end();
      const body = (await json(request)) as Asked;
      asked.push(body);
      const answer = answerTo(body, asked.length);
      if (!answer) return void response.destroy();
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    })();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  return { asked, run: (...args: string[]) => planwright([...args, "--url", url]) };
}

const TOOL = {
  name: "listAuthors",
  server: "blog",
  category: "blog",
  description: "",
  contract: { sideEffects: false },
  contractReport: { fields: [], problems: [] },
  inputSchema: {},
  outputSchema: null,
  observedOutput: null,
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-untidy-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test.each([
  ["with a byte order mark and the line ends of Windows", Buffer.from('\ufeff{\r\n"steps": []\r\n}\r\n')],
  ["in UTF-16, as an older PowerShell writes it", Buffer.from('\ufeff{"steps": []}', "utf16le")],
])("a plan in a file %s is read", async (_what, content) => {
  const { run, asked } = await apiWith(() => ({ data: { check: { valid: true, diagnostics: [] } } }));
  const file = join(folder(), "plan.json");
  writeFileSync(file, content);
  expect(await run("validate", file)).toMatchObject({ exitCode: 0, stderr: "" });
  expect(asked[0]?.variables["plan"]).toEqual({ steps: [] });
});

test("an output that breaks off leaves no file that looks complete", async () => {
  const { run } = await apiWith(
    () => undefined,
    (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"beginning":');
      setTimeout(() => response.destroy(), 50);
    },
  );
  const out = join(folder(), "blog.json");
  expect(await run("output", "plan_1/steps/blog", "--out", out)).toMatchObject({ exitCode: 4 });
  expect(existsSync(out)).toBe(false);
  writeFileSync(out, "mine");
  expect(await run("output", "plan_1/steps/blog", "--out", out)).toMatchObject({ exitCode: 2 });
  expect(readFileSync(out, "utf8")).toBe("mine");
});

test("a sign-in with --json prints JSON alone", async () => {
  const signIn = { url: "https://login.example/?state=1", since: null, expiresAt: null, error: null };
  const { run } = await apiWith((_asked, times) => ({
    data: { toolServers: [{ name: "vault", signIn: { ...signIn, isNeeded: times < 2 } }] },
  }));
  const { stdout, exitCode } = await run("sign-in", "vault", "--json");
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "sign-in", server: "vault", url: "https://login.example/?state=1" },
    { event: "end", server: "vault", isNeeded: false },
  ]);
});

test.each([
  ["watch", [ID]],
  ["call", ["listAuthors"]],
  ["plan", ["List authors"]],
] as const)("the result of %s is read again when the API is just being restarted", async (name, words) => {
  const request = requestOf({ requestId: ID, status: "COMPLETED", title: "It has ended" });
  let lost = 0;
  const { run } = await apiWith(({ query }) => {
    if (query.includes("getAvailableTools")) return { data: { tools: [TOOL], toolServers: [] } };
    if (query.includes("mutation")) return { data: { accepted: { requestId: ID } } };
    if (!query.includes("diagnosis {")) return { data: { request } };
    lost += 1;
    return lost === 1 ? undefined : { data: { request } };
  });
  const ran = await run(name, ...words);
  expect(ran).toMatchObject({ exitCode: 0, stderr: "" });
});

test("bulk resume is not sent again when its answer is lost: another one may have paused meanwhile", async () => {
  const result = { requestId: ID, version: 1, status: "EXECUTING", title: "x", changed: true, error: null };
  const { run, asked } = await apiWith(({ variables }) =>
    variables["dryRun"] === true
      ? { data: { answer: { results: [result], hasMore: false, endCursor: null } } }
      : undefined,
  );
  const { exitCode, stderr } = await run("bulk", "resume", "--yes");
  expect(exitCode).toBe(4);
  expect(stderr).toContain("does not answer");
  expect(asked.filter(({ variables }) => variables["dryRun"] === false)).toHaveLength(1);
});

test("bulk says what it has changed when a later part fails", async () => {
  const idOf = (index: number) => `req_1700000000_abcdefghijklmnop${1_000 + index}`;
  const results = Array.from({ length: 150 }, (_, index) => ({
    requestId: idOf(index),
    version: 1,
    status: "FAILED",
    title: "x",
    changed: true,
    error: null,
  }));
  const refused = { message: "Something failed", extensions: { code: "INTERNAL" } };
  const api = () =>
    apiWith(({ variables }) => {
      const { dryRun, after, requests = [] } = variables;
      if (dryRun === true) {
        const page = after === null ? results.slice(0, 100) : results.slice(100);
        return { data: { answer: { results: page, hasMore: after === null, endCursor: "100" } } };
      }
      if (requests.length < 100) return { errors: [refused] };
      return { data: { answer: { results: results.slice(0, 100), hasMore: false, endCursor: null } } };
    });
  const ran = await (await api()).run("bulk", "retry", "--yes");
  expect(ran.exitCode).toBe(4);
  expect(ran.stdout).toContain("100 requests retried");
  expect(ran.stderr).toContain("Something failed (INTERNAL)");
  expect(ran.stderr).toContain(`50 requests had no answer, the first is ${idOf(100)}`);
  const asJson = JSON.parse((await (await api()).run("bulk", "retry", "--yes", "--json")).stdout);
  expect(asJson).toMatchObject({ count: 100, error: { code: "INTERNAL" } });
  expect(asJson.unanswered).toEqual(results.slice(100).map(({ requestId }) => requestId));
});

test("doctor names an address that is not the API's, and checks everything else", async () => {
  const { run } = await apiWith(
    () => ({ page: "of another server" }),
    (response) => void response.end(JSON.stringify({ version: "0.0.0" })),
  );
  const { stdout, exitCode } = await run("doctor", "--json");
  expect(exitCode).toBe(1);
  const { checks } = JSON.parse(stdout);
  expect(checks.map(({ name }: { name: string }) => name)).toContain("node");
  expect(checks.at(-1)).toMatchObject({ state: "problem", text: expect.stringContaining("is not the API") });
});
