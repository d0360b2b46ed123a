import { expect, test } from "vitest";
import { z } from "zod";
import { parseSettings, SettingsError } from "./parse-settings.ts";

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

test("parseSettings fills defaults and drops what the schema does not name", () => {
  expect(parseSettings(SCHEMA, { MONGODB_URL: "mongodb://x", HOME: "/root" })).toEqual({
    MONGODB_URL: "mongodb://x",
    PORT: 4000,
  });
});

test("parseSettings takes an empty variable for an absent one", () => {
  expect(parseSettings(SCHEMA, { MONGODB_URL: "mongodb://x", PORT: "" }).PORT).toBe(4000);
  expect(failure({ MONGODB_URL: "" }).message).toContain("MONGODB_URL: is missing");
});

test("parseSettings names every bad variable in one error", () => {
  expect(failure({ PORT: "eighty" }).facts).toEqual({ variables: ["MONGODB_URL", "PORT"] });
});

test("parseSettings never shows a value", () => {
  expect(failure({ MONGODB_URL: "mongodb://x", OPENAI_API_KEY: "my-secret" }).message).not.toContain(
    "my-secret",
  );
});
