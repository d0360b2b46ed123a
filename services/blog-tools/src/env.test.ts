import { parseSettings } from "@planwright/runtime";
import { expect, test } from "vitest";
import { SettingsSchema } from "./env.ts";

const MONGODB_URL = "mongodb://127.0.0.1/blog";

test("ALLOWED_HOSTS are names separated by commas", () => {
  const settings = parseSettings(SettingsSchema, {
    MONGODB_URL,
    ALLOWED_HOSTS: "blog-tools, blog.example.org,",
  });
  expect(settings.ALLOWED_HOSTS).toEqual(["blog-tools", "blog.example.org"]);
});

test.each([
  [
    { MONGODB_URL, ALLOWED_HOSTS: "blog-tools,a/b" },
    /^Wrong setting .* ALLOWED_HOSTS: must be names of hosts/,
  ],
  [{ MONGODB_URL: "foo" }, /^Wrong setting .* MONGODB_URL: must be the address of MongoDB/],
])("%o is refused with the right form", (env, message) => {
  expect(() => parseSettings(SettingsSchema, env)).toThrow(message);
});
