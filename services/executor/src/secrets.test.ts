import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, PlanSchema } from "@planwright/plan";
import { parseServers, type ToolCall } from "@planwright/tools";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSecretSource, createSecrets, presentIn, type SecretValues, withSecrets } from "./secrets.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "planwright-secrets-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SERVERS = parseServers({
  mcpServers: {
    crm: {
      url: "http://127.0.0.1:1/mcp",
      secrets: { "crm-key": {}, narrow: { tools: ["save"], tenants: ["t1"] }, absent: {} },
    },
    other: { url: "http://127.0.0.1:1/mcp" },
  },
}).mcpServers;
const VARIABLES = { PLANWRIGHT_SECRET_CRM_KEY: "value-of-crm-key", PLANWRIGHT_SECRET_NARROW: "narrow-value" };

/**
 * Sends a call of a plan of one step with these arguments. @returns what arrives at the tool, and the outcome
 */
async function send(
  written: JsonObject,
  more: Partial<Omit<ToolCall, "arguments">> & { arguments?: JsonObject; tenant?: string } = {},
) {
  const { tenant = "t1", ...call } = more;
  const plan = PlanSchema.parse({ steps: [{ id: "s", tool: "save", arguments: written }] });
  const source = createSecretSource({ variables: VARIABLES });
  const added: [string, readonly string[]][] = [];
  const addSecrets = (...known: [string, readonly string[]]) => void added.push(known);
  const secrets = createSecrets({ source, servers: SERVERS, addSecrets }).ofPlan({ plan, tenant });
  const toolCall = { tool: "save", server: "crm", arguments: written, ...call };
  const { arguments: args, ...address } = toolCall;
  const present = presentIn(args, secrets?.placesOf("s") ?? []);
  const fillIn = async (values: SecretValues) => withSecrets(args, present, values);
  const clearance = await secrets?.fill({ ...address, present, fillIn });
  if (clearance?.type !== "send") return { sent: [], added, outcome: clearance };
  return { sent: [clearance.arguments], added, outcome: undefined };
}

test("secrets are filled in at any depth, only for the call, and are masked for their server", async () => {
  const written = { auth: [{ token: "secret://crm-key" }], text: "see secret://crm-key" };
  const { sent, added } = await send(written);
  const inside = { auth: [{ token: "value-of-crm-key" }], text: "see secret://crm-key" };
  expect(sent).toEqual([inside]);
  expect(added).toEqual([["crm", ["value-of-crm-key"]]]);
  expect(written.auth).toEqual([{ token: "secret://crm-key" }]);
});

test("a plan that names no secret is not checked again", async () => {
  expect((await send({ text: "see secret://crm-key", n: 1 })).sent).toEqual([]);
});

test("a text that a reference inserted stays text, even if it has the form of a secret", async () => {
  const resolved = { a: "secret://narrow", b: "secret://crm-key", c: { token: "secret://crm-key" } };
  const { sent } = await send({ a: "<<x.y>>", b: "secret://crm-key", c: "<<x.z>>" }, { arguments: resolved });
  expect(sent).toEqual([{ ...resolved, b: "value-of-crm-key" }]);
});

test.each([
  ["a server without it", { server: "other" }],
  ["no known server", { server: undefined }],
  ["a server with the name of an inherited property", { server: "constructor" }],
  ["another tool", { tool: "list" }],
  ["another tenant", { tenant: "t2" }],
])("%s gets no secret, and nothing is called", async (_, more) => {
  const { sent, outcome } = await send({ token: "secret://narrow" }, more);
  expect(sent).toEqual([]);
  expect(outcome).toMatchObject({
    type: "failed",
    effect: "none",
    error: { code: "SECRET_FORBIDDEN", retryable: false, message: expect.stringContaining("servers file") },
  });
});

test("a secret that the executor does not have fails the call before it is made", async () => {
  const { sent, outcome } = await send({ token: "secret://absent" });
  expect(sent).toEqual([]);
  expect(outcome).toMatchObject({
    effect: "none",
    error: { code: "SECRET_UNKNOWN", message: expect.stringContaining("PLANWRIGHT_SECRET_ABSENT") },
  });
});

test("the secrets of a server are masked before any plan sends them", async () => {
  const added: unknown[] = [];
  const source = createSecretSource({ variables: VARIABLES });
  const addSecrets = (...known: unknown[]) => void added.push(known);
  await createSecrets({ source, servers: SERVERS, addSecrets }).learn();
  expect(added).toEqual([
    ["crm", ["value-of-crm-key", "narrow-value"]],
    ["other", []],
  ]);
});

test("files override variables, are read again each time, and may be links as in Kubernetes", async () => {
  const source = createSecretSource({ directory: folder, variables: VARIABLES });
  expect(await source.read("crm-key")).toEqual({ value: "value-of-crm-key" });
  await mkdir(join(folder, "..data"));
  await writeFile(join(folder, "..data", "crm-key"), "from a file\n");
  await symlink(join("..data", "crm-key"), join(folder, "crm-key"));
  expect(await source.read("crm-key")).toEqual({ value: "from a file" });
  await writeFile(join(folder, "..data", "crm-key"), "replaced");
  expect(await source.read("crm-key")).toEqual({ value: "replaced" });
});

test.each([
  ["does not exist", "absent", "a file absent into SECRETS_DIR, or set PLANWRIGHT_SECRET_ABSENT"],
  ["is empty", "empty", "it is empty"],
  ["is a folder", "folder", "cannot be read (EISDIR)"],
  ["is outside of the folder", "../outside", "not valid for a secret"],
])("a secret that %s is reported with a remedy", async (_, name, missing) => {
  await writeFile(join(folder, "empty"), "\n");
  await mkdir(join(folder, "folder"));
  const source = createSecretSource({ directory: folder });
  expect(await source.read(name)).toEqual({ missing: expect.stringContaining(missing) });
});
