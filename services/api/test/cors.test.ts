import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";

const OPS = "https://ops.example.org";
let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ allowedOrigins: [OPS] });
});
afterAll(() => running.close());

const preflight = (path: string, origin: string) =>
  running.send(path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,authorization",
    },
  });

test.each(["/graphql", "/graphql/stream"])("an allowed page may call %s with a key", async (path) => {
  const { status, headers } = await preflight(path, OPS);
  expect(status).toBe(204);
  expect(headers.get("access-control-allow-origin")).toBe(OPS);
  expect(headers.get("access-control-allow-headers")).toMatch(/authorization.*content-type/);
  expect(headers.get("access-control-allow-credentials")).toBeNull();
});

test("an allowed page may read answers and refusals", async () => {
  const answer = await running.graphql("{ __typename }", {}, { origin: OPS });
  expect(answer.body).toEqual({ data: { __typename: "Query" } });
  expect(answer.headers.get("access-control-allow-origin")).toBe(OPS);
  expect(answer.headers.get("vary")).toMatch(/origin/i);
  const refused = await running.graphql(
    "{ __typename }",
    {},
    { origin: OPS, authorization: "Bearer pw_wrong" },
  );
  expect(refused.status).toBe(401);
  expect(refused.headers.get("access-control-allow-origin")).toBe(OPS);
});

test.each(["https://evil.example.org", `${OPS}.evil.example.org`, "http://ops.example.org", "null"])(
  "a page of %s may not",
  async (origin) => {
    expect((await preflight("/graphql", origin)).headers.get("access-control-allow-origin")).toBeNull();
    const answer = await running.graphql("{ __typename }", {}, { origin });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  },
);

test("a request that a browser sends without a preflight is refused", async () => {
  const answer = await running.send("/graphql?query={__typename}", { headers: { origin: OPS } });
  expect(answer.status).toBe(400);
});
