/** The console as the API serves it: its page, its files, and refused paths. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

test.each(["/console/", "/console/r/req_1700000000_abcdefghijklmnopqrst/s/pay"])(
  "%s is the page, which may load only files of the same origin",
  async (path) => {
    const page = await running.send(path);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = ""]) => url);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      expect(file).toMatch(/^\/console\//);
      expect({ file, status: (await running.send(file)).status }).toEqual({ file, status: 200 });
    }
  },
);

test("files with a digest in their names may be cached, and a removed file is not found", async () => {
  const { text } = await running.send("/console/");
  const [, script = ""] = /src="([^"]*)"/.exec(text) ?? [];
  expect((await running.send(script)).headers.get("cache-control")).toContain("immutable");
  const missing = await running.send("/console/assets/index-gone.js");
  expect([missing.status, missing.headers.get("content-type")]).toEqual([404, expect.stringMatching(/json/)]);
  expect(missing.text).toContain("Reload the page");
});

test.each([
  "/console/../package.json",
  "/console/%2e%2e/package.json",
  "/console/assets/..%2f..%2fpackage.json",
])("%s gives no file from outside of the page", async (path) => {
  expect((await running.send(path)).text).not.toContain("@planwright/console");
});
