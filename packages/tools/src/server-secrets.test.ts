import { sha256 } from "@planwright/plan";
import { expect, test } from "vitest";
import { parseServers } from "./config/load-servers-file.ts";
import { createServerSecrets } from "./masker.ts";

function secretsOf(server: object) {
  const config = parseServers({ mcpServers: { s: server } }).mcpServers["s"];
  if (!config) throw new TypeError("no server");
  return createServerSecrets(config);
}

test.each<[string, object, string]>([
  ["a header", { url: "http://h/mcp", headers: { "X-Shop": "some-word-of-mine" } }, "some-word-of-mine"],
  [
    "a bearer token alone",
    { url: "http://h/mcp", headers: { Authorization: "Bearer abcdefgh" } },
    "abcdefgh",
  ],
  [
    "the password of basic access",
    {
      url: "http://h/mcp",
      headers: { Authorization: `Basic ${Buffer.from("ann:my-password").toString("base64")}` },
    },
    "my-password",
  ],
  ["a password in an address", { url: "http://ann:p%40ssword@h/mcp" }, "p@ssword"],
  ["a key in an address", { url: "http://h/mcp?api_key=some-key" }, "some-key"],
  ["a variable with the name of a secret", { command: "s", env: { SHOP_TOKEN: "some-word" } }, "some-word"],
  [
    "a variable that looks like a key",
    { command: "s", env: { PAT: "x9f8e7d6c5b4a3f2e1" } },
    "x9f8e7d6c5b4a3f2e1",
  ],
  ["a password in a variable", { command: "s", env: { URL: "db://ann:my-password@h/x" } }, "my-password"],
  ["an option", { command: "s", args: ["--api-key=some-key"] }, "some-key"],
  ["the word after an option", { command: "s", args: ["--token", "some-word"] }, "some-word"],
])("%s of the configuration is a secret from the beginning", (_, server, value) => {
  expect(secretsOf(server).masker.text(`it is ${value}.`)).toBe("it is [redacted].");
});

test.each([
  { url: "http://h/mcp", headers: { Accept: "application/json", "X-Tenant": "acme-corporation" } },
  {
    command: "s",
    env: { NODE_ENV: "production", DATA: "/data/of/acme-corporation" },
    args: ["--verbose", "production"],
  },
])("texts of %j that are no secrets are kept", (server) => {
  const text = "application/json of acme-corporation in production at /data/of/acme-corporation --verbose";
  expect(secretsOf(server).masker.text(text)).toBe(text);
});

test("added values are masked from then on, in addition to the configuration, and the oldest of very many are dropped", () => {
  const secrets = secretsOf({ command: "s", env: { SHOP_TOKEN: "some-word" } });
  expect(secrets.add(["value-of-mine"])).toBe(true);
  expect(secrets.add(["value-of-mine"])).toBe(false);
  expect(secrets.masker.text("some-word, value-of-mine")).toBe("[redacted], [redacted]");
  secrets.add(Array.from({ length: 1_000 }, (_, index) => `another-value-${index}.`));
  expect(secrets.masker.text("some-word, value-of-mine")).toBe("[redacted], value-of-mine");
});

test("a value that is sent again is not the oldest any more", () => {
  const secrets = secretsOf({ command: "s" });
  secrets.add(["value-of-mine"]);
  const others = Array.from({ length: 1_200 }, (_, index) => `another-value-${index}.`);
  secrets.add(others.slice(0, 900));
  expect(secrets.add(["value-of-mine"])).toBe(false);
  secrets.add(others.slice(900));
  expect(secrets.masker.text("value-of-mine")).toBe("[redacted]");
});

test("of the tokens of a sign-in the last are masked, however many secrets plans send and however often it is renewed", () => {
  const secrets = secretsOf({ command: "s" });
  const tokens = Array.from({ length: 200 }, (_, index) => sha256(`token ${index}`));
  for (const token of tokens) secrets.addTokens([token, "secret-of-client"]);
  secrets.add(Array.from({ length: 1_200 }, (_, index) => `another-value-${index}.`));
  const [oldest, ...last] = [tokens[0], ...tokens.slice(-10), "secret-of-client"].map((value) =>
    secrets.masker.text(value ?? ""),
  );
  expect([oldest, new Set(last)]).toEqual([tokens[0], new Set(["[redacted]"])]);
  expect(secrets.values().length).toBeLessThan(1_020);
});
