/** Runs every command of the guides about tools, plans, approvals, models and causes, in order, against the running system. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { bundleWithCodeCache, linesNotPrinted, type ReadmeBlock, readmeBlocks } from "@planwright/testing";
import { isEnumType } from "graphql";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProgram } from "../src/program.ts";
import { type CliStack, type Read, readApiSchema, startCliStack } from "./cli-stack.ts";
import type { Ran } from "./planwright.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TOOLS = readmeBlocks(ROOT, "docs/guides/write-a-tool.md");
const DEBUG = readmeBlocks(ROOT, "docs/guides/debug.md");
const FIRST_PLAN = readmeBlocks(ROOT, "docs/guides/first-plan.md");
const APPROVALS = readmeBlocks(ROOT, "docs/guides/approvals.md");
const MODEL = readmeBlocks(ROOT, "docs/guides/real-model.md");
const ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";
const HASH = "3f2a9c1b77aa";

const isJson = (part: string) => (block: ReadmeBlock) =>
  block.language === "json" && block.text.includes(part);
const commandsOf = (blocks: readonly ReadmeBlock[]) =>
  blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => text.trim().split("\n"));

/** Inside the repository, so that the server finds the same packages as in a reader's checkout. */
mkdirSync(join(ROOT, ".data"), { recursive: true });
const shopFolder = mkdtempSync(join(ROOT, ".data", "guides-"));
const shopFile = join(shopFolder, "shop.jsonl");

/** The servers file of the guide, with its server bundled in a folder of this test. */
async function shopServers(): Promise<object> {
  const server = join(shopFolder, "shop-tools.mjs");
  writeFileSync(server, TOOLS.find(({ language }) => language === "js")?.text ?? "");
  const bundled = await bundleWithCodeCache(join(shopFolder, "bundled"), server, [
    join(shopFolder, "unused"),
  ]);
  const text = TOOLS.find(isJson('"mcpServers"'))?.text ?? "";
  return JSON.parse(text.replace("shop-tools.mjs", bundled).replace("shop.jsonl", shopFile)).mcpServers;
}

let system: CliStack;
beforeAll(async () => {
  const servers = await shopServers();
  system = await startCliStack(() => servers);
  const plans = { "order.json": TOOLS, "plan.json": FIRST_PLAN, "ask-first.json": APPROVALS };
  for (const [file, blocks] of Object.entries(plans))
    writeFileSync(join(system.folder, file), blocks.find(isJson('"steps"'))?.text ?? "");
});
afterAll(async () => {
  await system?.close();
  rmSync(shopFolder, { recursive: true, force: true });
});

/** Runs a command of a guide for a request of this test. */
async function type(command: string, requestId: string, hash = HASH): Promise<Ran> {
  const here = command
    .replace(/^npx /, "")
    .replaceAll(ID, requestId)
    .replace(HASH, hash)
    .replace("http://127.0.0.1:4000/graphql", system.stack.apiUrl)
    .replace(".data/planwright/logs", system.stack.logDir);
  return await system.shell(here);
}

const idIn = ({ stdout }: Ran) => /req_\d{10}_[a-z0-9]+/.exec(stdout)?.[0];

/**
 * Runs the commands of a guide in order, each for the request that the last one made or showed, and compares their
 * output with the block behind them.
 * @param exitCodes - of commands that do not end with 0, by their beginning; several take turns
 * @returns the last request
 */
async function play(
  blocks: readonly ReadmeBlock[],
  exitCodes: Readonly<Record<string, number[]>>,
): Promise<string> {
  let requestId = "";
  for (const block of blocks.filter(({ language }) => language === "sh")) {
    for (const command of commandsOf([block])) {
      // The system of this test was started with this file.
      if (command === "MCP_SERVERS_FILE=./mcp-servers.json npm start") continue;
      const hash = requestId === "" ? undefined : await hashOf(requestId);
      const ran = await type(command, requestId, hash);
      const [, codes] = Object.entries(exitCodes).find(([beginning]) => command.startsWith(beginning)) ?? [];
      expect({ command, ...ran }).toMatchObject({ command, exitCode: codes?.shift() ?? 0 });
      requestId = idIn(ran) ?? requestId;
      const shown = blocks[blocks.indexOf(block) + 1];
      const isLast = command === commandsOf([block]).at(-1);
      if (isLast && shown?.language === "")
        expect(linesNotPrinted(shown.text.trimEnd(), ran.stdout)).toEqual([]);
    }
  }
  return requestId;
}

test("the commands of the guide about tools work, and print what the guide shows", async () => {
  const requestId = await play(TOOLS, { "npx planwright submit": [3] });
  const { status } = await system.until(requestId, ({ status: now }) => now !== "EXECUTING");
  expect(status).toBe("COMPLETED");
  const effects = readFileSync(shopFile, "utf8").trim().split("\n");
  expect(effects.map((line) => JSON.parse(line).tool)).toEqual(["placeOrder", "sendInvoice", "bookCourier"]);
});

test("the first plan of the guide completes, fails when it runs again, and completes with another argument", async () => {
  await play(FIRST_PLAN, { "npx planwright submit": [0, 1] });
});

test("a call of the guide about approvals waits, and is made or refused as the guide says", async () => {
  const requestId = await play(APPROVALS, {
    "npx planwright submit": [3, 3],
    "npx planwright approve": [0, 1],
  });
  expect(await system.read(requestId)).toMatchObject({ status: "FAILED" });
});

test("the commands of the guide about models work", async () => {
  await play(MODEL, {});
});

async function hashOf(requestId: string): Promise<string | undefined> {
  const { plan } = await system.read(requestId);
  return plan?.steps.find(({ approvalHash }) => approvalHash !== null)?.approvalHash?.slice(0, 12);
}

/** A request whose step "pay" is in doubt. */
async function inDoubt(): Promise<string> {
  system.tools().script({ plain_effect: [{ type: "lose-answer" }] });
  const requestId = await system.submit([{ id: "pay", tool: "plain_effect", arguments: { value: 1 } }]);
  await system.until(requestId, ({ plan }: Read) => plan?.status === "WAITING");
  return requestId;
}

/** A part of the output of each command of the guide about causes. */
const PRINTS: [beginning: string, part: RegExp][] = [
  ["npx planwright debug", /^Cause {3}it is not known whether the call of step pay/m],
  ["curl", /"code":"IN_DOUBT","severity":"ATTENTION"/],
  ["grep", /"msg":"step in doubt"/],
  ["npx planwright list --needs doubt", /req_/],
  ["npx planwright resolve", /COMPLETED/],
  ["npx planwright list --failed", /TOOL_FAILED/],
  ["npx planwright fleet", /executor/],
  ["npx planwright tools", /keyed_effect/],
  ["npx planwright bulk retry", /req_/],
];

test("every command of the guide about causes prints what the guide says", async () => {
  const requestId = await inDoubt();
  system.tools().script({ keyed_effect: [{ type: "tool-error" }] });
  const failed = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
  await system.until(failed, ({ status }) => status === "FAILED");
  for (const command of commandsOf(DEBUG)) {
    const ran = await type(command, requestId);
    const [, part] = PRINTS.find(([beginning]) => command.startsWith(beginning)) ?? [];
    expect(part).toBeDefined();
    const isToFile = command.endsWith("> bundle.json");
    const shown = isToFile ? readFileSync(join(system.folder, "bundle.json"), "utf8") : ran.stdout;
    expect({ command, ...ran, shown }).toMatchObject({
      exitCode: 0,
      shown: expect.stringMatching(isToFile ? new RegExp(requestId) : (part ?? /^$/)),
    });
  }
  expect(await system.until(failed, ({ status }) => status === "COMPLETED")).toBeDefined();
});

test("the queries for mongosh show the journal of a request and the state of its plan", async () => {
  const requestId = await inDoubt();
  const client = new MongoClient(system.stack.mongodbUrl);
  /** In mongosh the second argument of `find` is the projection. */
  const collection = (name: string) => ({
    find: (filter: object, projection: object) => client.db().collection(name).find(filter, { projection }),
  });
  const db = { journal: collection("journal"), plans: collection("plans") };
  const queries = DEBUG.filter(({ language }) => language === "js").map(({ text }) =>
    text.replaceAll(ID, requestId),
  );
  try {
    const found = await Promise.all(queries.map((query) => runInNewContext(query, { db }).toArray()));
    const claimed = { _id: `${requestId}/00000001`, at: expect.any(Date), by: expect.anything(), epoch: 1 };
    const plan = { status: "WAITING", waitReason: "in doubt", lease: null, epoch: 1, claims: 0 };
    expect(found).toMatchObject([
      expect.arrayContaining([{ ...claimed, events: expect.any(Array) }]),
      [{ ...plan, dueAt: null }],
    ]);
  } finally {
    await client.close();
  }
});

const guide = (name: string) => readFileSync(join(ROOT, "docs/guides", `${name}.md`), "utf8");

const diagnosisCodes = () => {
  const type_ = readApiSchema().getType("DiagnosisCode");
  return isEnumType(type_) ? type_.getValues().map(({ name }) => name) : [];
};

test("the guide about causes has a row for every diagnosis code, and the guides name existing commands only", () => {
  const text = guide("debug");
  const rows = text.split("\n").filter((line) => /^\| `[A-Z_]+`/.test(line));
  const codes = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => code),
  );
  expect(codes.toSorted()).toEqual(diagnosisCodes().toSorted());
  const program = createProgram({
    version: "",
    perform: async () => undefined,
    performLocally: async () => undefined,
    print: () => undefined,
  });
  const names = program.commands.map((command) => command.name());
  const others = ["deploy", "write-a-tool", "first-plan", "approvals", "real-model", "security"];
  const guides = [text, ...others.map(guide)].join("\n");
  const named = [...guides.matchAll(/`(?:npx )?planwright ([a-z]+(?:-[a-z]+)*)/g)].map(([, name]) => name);
  expect(named.filter((name) => name === undefined || !names.includes(name))).toEqual([]);
});
