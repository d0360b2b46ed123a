import { once } from "node:events";
import { testServers } from "@planwright/testing";
import { expect, test } from "vitest";
import { startHttpServer } from "../src/http-server.ts";
import { openBlogDatabase } from "../src/open-blog-database.ts";
import { connectOverHttp, startService } from "./blog-client.ts";

test("calls that a crash interrupts can be repeated with their keys: each has its effect once", async () => {
  const { mongodbUrl } = testServers();
  const create = async (url: string, count: number, isEnough: (answered: number) => boolean) => {
    const blog = await connectOverHttp(url);
    let answered = 0;
    const calls = Array.from({ length: count }, async (_, index) => {
      const author = { name: "n", email: `crash${index}@example.com` };
      const output = await blog.output("createAuthor", author, `crash-${index}`);
      answered += 1;
      if (isEnough(answered)) first.child.kill("SIGKILL");
      return output["_id"];
    });
    const settled = await Promise.allSettled(calls);
    await blog.close().catch(() => {});
    return settled.map((call) => (call.status === "fulfilled" ? call.value : undefined));
  };
  const first = await startService(mongodbUrl);
  const before = await create(first.url, 40, (answered) => answered === 5);
  if (first.child.exitCode === null && first.child.signalCode === null) await once(first.child, "exit");

  const second = await startService(mongodbUrl);
  const after = await create(second.url, 40, () => false);
  second.child.kill("SIGKILL");

  expect(before.filter((id) => id !== undefined).length).toBeGreaterThanOrEqual(5);
  expect(after.every((id) => typeof id === "string")).toBe(true);
  before.forEach((id, index) => {
    if (id !== undefined) expect(after[index]).toBe(id);
  });
  const database = await openBlogDatabase(mongodbUrl);
  expect(await database.authors.countDocuments({ email: /^crash/ })).toBe(40);
  await database.close();
});

test("a failure of MongoDB is a protocol error without details of the driver", async () => {
  const database = await openBlogDatabase(testServers().mongodbUrl);
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const http = await startHttpServer({
    database,
    onError: (error) => void errors.push(error),
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    stopping: stopping.signal,
  });
  const blog = await connectOverHttp(http.url);
  await database.close();
  await expect(blog.call("listAuthors", {})).rejects.toMatchObject({
    code: -32_603,
    message: "listAuthors failed for an internal reason; whether it changed anything is not known",
  });
  expect(errors).toHaveLength(1);
  expect((await fetch(new URL("/readyz", http.url))).status).toBe(503);
  expect((await fetch(new URL("/healthz", http.url))).status).toBe(200);
  const metrics = await (await fetch(new URL("/metrics", http.url))).text();
  expect(metrics).toMatch(/calls_total\{tool="listAuthors",outcome="failed",[^}]*\} 1/);
  await blog.close();
  stopping.abort();
  await http.close();
});
