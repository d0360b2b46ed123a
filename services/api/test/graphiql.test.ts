import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { EXAMPLES } from "../src/http/graphiql-page.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { executeAs, planAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ graphiql: true });
});
afterAll(() => running.close());

/** The URLs in the page, without data URLs. */
function assetsOf(page: string): string[] {
  const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = ""]) => url);
  return named.filter((url) => !url.startsWith("data:"));
}

test("the page and all of its assets are served by this service", async () => {
  const page = await running.send("/graphiql");
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toMatch(/^text\/html/);
  const assets = assetsOf(page.text);
  expect(assets).toHaveLength(6);
  for (const path of assets) {
    expect(path).toMatch(/^\/graphiql\/[a-z.-]+$/);
    const asset = await running.send(path);
    expect({ path, status: asset.status }).toEqual({ path, status: 200 });
    expect(asset.headers.get("content-type")).toMatch(path.endsWith(".css") ? /^text\/css/ : /javascript/);
    expect(asset.text.length).toBeGreaterThan(10);
  }
});

test("nothing is loaded from other origins: the policy forbids it, and no style sheet refers to them", async () => {
  const page = await running.send("/graphiql");
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none';/);
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
  const styles = assetsOf(page.text).filter((path) => path.endsWith(".css"));
  for (const path of styles) {
    const { text } = await running.send(path);
    expect(text).not.toMatch(/@import/);
    for (const [, url] of text.matchAll(/url\(["']?([^"')]{0,40})/g)) expect(url).toMatch(/^(data:|#)/);
  }
});

test("every example works, from the first tab to the last, with the id from the first one", async () => {
  let requestId = "";
  for (const { query, variables = "{}" } of EXAMPLES) {
    const isStream = query.includes("subscription ");
    const answer = await running.send(isStream ? "/graphql/stream" : "/graphql", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: isStream ? "text/event-stream" : "application/json",
      },
      body: JSON.stringify({
        query,
        variables: JSON.parse(variables.replace('"last"', JSON.stringify(requestId))),
      }),
    });
    expect({ query, status: answer.status, text: answer.text }).toEqual({
      query,
      status: 200,
      text: expect.not.stringContaining('"errors"'),
    });
    if (isStream) expect(answer.text).toContain('"status":"COMPLETED"');
    else expect(Object.values(answer.body.data)).not.toContain(null);
    if (requestId !== "") continue;
    const { createPlan } = answer.body.data;
    requestId = createPlan.requestId;
    await planAs(running.store, createPlan.requestId);
    await executeAs(running.store, createPlan.planId);
  }
});

test("without the setting /graphiql does not exist, and other pages keep their policy", async () => {
  const other = await startTestApi();
  onTestFinished(() => other.close());
  for (const path of ["/graphiql", "/graphiql/page.js"]) expect((await other.send(path)).status).toBe(404);
  expect((await running.send("/")).headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; frame/,
  );
});
