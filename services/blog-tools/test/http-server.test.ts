import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBlogDatabase } from "../src/open-blog-database.ts";
import { connectOverHttp, startService } from "./blog-client.ts";

let child: ChildProcess;
let url: string;
const { mongodbUrl } = testServers();

beforeAll(async () => {
  ({ url, child } = await startService(mongodbUrl));
});
afterAll(() => child.kill("SIGKILL"));

/** Sends a request with headers that `fetch` does not allow. */
async function statusOf(path: string, headers: Record<string, string>, body?: string): Promise<number> {
  const sent = request(new URL(path, url), { method: body === undefined ? "GET" : "POST", headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test.each(["/healthz", "/readyz"])("%s answers 200 on the port of the tools", async (path) => {
  expect(await statusOf(path, {})).toBe(200);
});

test("/metrics counts calls by tool and outcome, without names that clients make up", async () => {
  const blog = await connectOverHttp(url);
  await blog.output("createAuthor", { name: "n", email: "metrics@x.y" });
  await blog.call("createAuthor", { name: "n", email: "metrics@x.y" });
  await expect(blog.call("dropEverything", {})).rejects.toThrow();
  await blog.close();
  const response = await fetch(new URL("/metrics", url));
  const text = await response.text();
  expect(response.headers.get("content-type")).toContain("text/plain");
  const calls = text.split("\n").filter((line) => line.startsWith("planwright_blog_tools_calls_total{"));
  expect(calls.toSorted()).toEqual([
    'planwright_blog_tools_calls_total{tool="createAuthor",outcome="ok",service="blog-tools"} 1',
    'planwright_blog_tools_calls_total{tool="createAuthor",outcome="refused",service="blog-tools"} 1',
    'planwright_blog_tools_calls_total{tool="unknown",outcome="refused",service="blog-tools"} 1',
  ]);
  expect(text).toMatch(
    /planwright_blog_tools_call_duration_seconds_count\{[^}]*tool="createAuthor"[^}]*\} 2/,
  );
  expect(text).toContain("process_resident_memory_bytes");
});

test("requests with a foreign Host or Origin are refused", async () => {
  const json = { "content-type": "application/json" };
  expect(await statusOf("/mcp", { ...json, host: "evil.example" }, "{}")).toBe(403);
  expect(await statusOf("/mcp", { ...json, origin: "https://evil.example" }, "{}")).toBe(403);
});

test("a body above the limit is refused", async () => {
  const body = JSON.stringify({ text: "x".repeat(2_000_000) });
  expect(await statusOf("/mcp", { "content-type": "application/json" }, body)).toBe(413);
});

test("another path is 404", async () => {
  expect(await statusOf("/", {})).toBe(404);
});

test("64 parallel calls to one server all succeed", async () => {
  const blog = await connectOverHttp(url);
  const created = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      blog.output("createAuthor", { name: "n", email: `p${index}@x.y` }, `parallel-${index}`),
    ),
  );
  expect(new Set(created.map(({ _id }) => _id)).size).toBe(64);
  await blog.close();
});

test("after SIGTERM running calls end, and the process exits with code 0", async () => {
  const blog = await connectOverHttp(url);
  const calls = Array.from({ length: 8 }, (_, index) =>
    blog.call("createAuthor", { name: "n", email: `t${index}@x.y` }, `term-${index}`),
  );
  await Promise.race(calls);
  child.kill("SIGTERM");
  const answers = await Promise.allSettled(calls);
  const [code] = (await once(child, "exit")) as [number];
  expect(code).toBe(0);
  const database = await openBlogDatabase(mongodbUrl);
  const made = await database.authors.countDocuments({ email: /^t\d@/ });
  const answered = answers.filter((answer) => answer.status === "fulfilled");
  expect(answered).toHaveLength(made);
  await blog.close().catch(() => {});
  await database.close();
});
