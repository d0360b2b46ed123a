import { parseSettings, SettingsError } from "@planwright/runtime";
import { expect, test } from "vitest";
import { ApiSettingsSchema, tokenSettings } from "./env.ts";

const SERVERS = { MONGODB_URL: "mongodb://127.0.0.1/planwright", REDIS_URL: "redis://127.0.0.1" };
const read = (env: Record<string, string>) => parseSettings(ApiSettingsSchema, { ...SERVERS, ...env });

test("tokens are accepted only from a named issuer, for a named audience", () => {
  const JWKS_URL = "https://id.example.org/keys";
  expect(tokenSettings(read({}))).toBeUndefined();
  expect(() => tokenSettings(read({ JWKS_URL, JWT_ISSUER: "https://id.example.org/" }))).toThrow(
    SettingsError,
  );
  const settings = read({ JWKS_URL, JWT_ISSUER: "https://id.example.org/", JWT_AUDIENCE: "planwright" });
  expect(tokenSettings(settings)).toEqual({
    jwksUrl: JWKS_URL,
    issuer: "https://id.example.org/",
    audience: "planwright",
    tenantClaim: "tenant",
    scopeClaim: "scope",
  });
});

test.each([
  ["JWKS_URL", "http://id.example.org/keys"],
  ["JWKS_URL", "file:///etc/passwd"],
  ["JWKS_URL", "keys"],
  ["CORS_ORIGINS", "https://ops.example.org, ops"],
  ["ANONYMOUS", "yes"],
  ["TRACE_URL_TEMPLATE", "javascript:alert('{traceId}')"],
  ["TRACE_URL_TEMPLATE", "https://traces.example.org/trace"],
  ["REQUESTS_PER_MINUTE", "-1"],
])("%s=%s is refused", (name, value) => {
  expect(() => read({ [name]: value })).toThrow(name);
});

test("an origin is normalised to the form that browsers send", () => {
  expect(read({ CORS_ORIGINS: "https://Ops.example.org/, http://127.0.0.1:8080" }).CORS_ORIGINS).toEqual([
    "https://ops.example.org",
    "http://127.0.0.1:8080",
  ]);
});

test("the address of a trace is kept unchanged", () => {
  const address = "https://traces.example.org/trace/{traceId}?tab=spans";
  expect(read({ TRACE_URL_TEMPLATE: address }).TRACE_URL_TEMPLATE).toBe(address);
});
