import { expect, test } from "vitest";
import { z } from "zod";
import { parseSettings, SettingsError, settingsOrExit } from "./parse-settings.ts";

const SCHEMA = z.object({
  MONGODB_URL: z.string().min(1),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  OPENAI_API_KEY: z.string().regex(/^sk-/, "must start with sk-").optional(),
});

function failure(env: Record<string, string>): SettingsError {
  try {
    parseSettings(SCHEMA, env);
  } catch (error) {
    if (error instanceof SettingsError) return error;
  }
  return expect.unreachable("the settings were accepted");
}

test("parseSettings adds defaults and drops variables that are not in the schema", () => {
  expect(parseSettings(SCHEMA, { MONGODB_URL: "mongodb://x", HOME: "/root" })).toEqual({
    MONGODB_URL: "mongodb://x",
    PORT: 4000,
  });
});

test("parseSettings takes an empty variable for an absent one", () => {
  expect(parseSettings(SCHEMA, { MONGODB_URL: "mongodb://x", PORT: "" }).PORT).toBe(4000);
  expect(failure({ MONGODB_URL: "" }).message).toContain("MONGODB_URL: is missing");
});

test("parseSettings takes a variable with only white space for an absent one, not for the number 0", () => {
  expect(parseSettings(SCHEMA, { MONGODB_URL: "mongodb://x", PORT: " \t" }).PORT).toBe(4000);
  expect(failure({ MONGODB_URL: " " }).message).toContain("MONGODB_URL: is missing");
});

test("parseSettings names every bad variable in one error", () => {
  expect(failure({ PORT: "eighty" }).facts).toEqual({ variables: ["MONGODB_URL", "PORT"] });
});

test("parseSettings never shows a value that may be a secret", () => {
  expect(failure({ MONGODB_URL: "mongodb://x", OPENAI_API_KEY: "my-secret" }).message).not.toContain(
    "my-secret",
  );
});

const WORDS = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(4000),
  MCP: z.enum(["on", "off"]).default("off"),
  JWKS_URL: z.url().optional(),
  NAME: z.string().max(3).optional(),
});

test.each([
  [{ PORT: "abc" }, 'PORT: is "abc", but must be a number'],
  [{ PORT: "1.5" }, 'PORT: is "1.5", but must be a whole number'],
  [{ PORT: "0" }, 'PORT: is "0", but must be at least 1'],
  [{ PORT: "99999" }, 'PORT: is "99999", but must be at most 65535'],
  [{ MCP: "yes" }, 'MCP: is "yes", but must be one of on, off'],
  [{ JWKS_URL: "here" }, "JWKS_URL: must be an address such as https://example.org"],
  [{ NAME: "long" }, "NAME: must have at most 3 characters"],
])("one wrong setting, %o, is one line that says what is valid", (env, line) => {
  expect(() => parseSettings(WORDS, env)).toThrow(new RegExp(`^Wrong setting in the environment: ${line}$`));
});

test("settingsOrExit ends a program and prints only the message", () => {
  const written: string[] = [];
  const codes: unknown[] = [];
  const exit = (code?: unknown): never => {
    codes.push(code);
    throw new RangeError("exit");
  };
  const stderr = { write: (text: string) => written.push(text) };
  expect(() => settingsOrExit(SCHEMA, { env: { PORT: "80" }, stderr, exit })).toThrow("exit");
  expect({ written, codes }).toEqual({
    written: ["Wrong setting in the environment: MONGODB_URL: is missing\n"],
    codes: [1],
  });
});
