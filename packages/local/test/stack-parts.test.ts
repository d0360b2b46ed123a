import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { apiPortOf, holdFolder, startStack, watchServerFiles } from "../src/index.ts";
import { checkSettings } from "../src/start-service.ts";
import { writeMcpServersFile } from "../src/start-stack.ts";

const folders: string[] = [];
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-parts-"));
  folders.push(path);
  return path;
}

test("the servers file has the blog tools and the servers of the user's file, and only its owner can read it", () => {
  const [user, path] = [join(folder(), "mine.json"), join(folder(), "servers.json")];
  writeFileSync(user, JSON.stringify({ mcpServers: { files: { command: "files" } } }));
  writeMcpServersFile(path, "http://127.0.0.1:1/mcp", user);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    mcpServers: {
      blog: { type: "http", url: "http://127.0.0.1:1/mcp", trusted: true },
      files: { command: "files" },
    },
  });
  expect(statSync(path).mode & 0o077).toBe(0);
});

test("a stdio server is named when one of its files in the folder is written or replaced", async () => {
  const checkout = folder();
  const elsewhere = fileOf("");
  mkdirSync(join(checkout, "node_modules"));
  for (const name of ["shop.mjs", "bank.mjs", "other.mjs", join("node_modules", "library.mjs")])
    writeFileSync(join(checkout, name), "");
  const servers = {
    shop: { command: "node", args: ["--quiet", "shop.mjs", "shop.jsonl"] },
    bank: { command: join(checkout, "bank.mjs"), args: [elsewhere] },
    library: { command: "node", args: ["node_modules/library.mjs"] },
    off: { command: "node", args: ["other.mjs"], disabled: true },
    web: { url: "http://127.0.0.1:1/mcp" },
  };
  const changed: string[] = [];
  const file = fileOf(JSON.stringify({ mcpServers: servers }));
  onTestFinished(watchServerFiles(file, checkout, (name) => changed.push(name)));
  for (const name of ["other.mjs", join("node_modules", "library.mjs"), "shop.jsonl"])
    writeFileSync(join(checkout, name), "changed");
  writeFileSync(elsewhere, "changed");
  writeFileSync(join(checkout, "shop.mjs"), "changed");
  await expect.poll(() => changed).toEqual(["shop"]);
  writeFileSync(join(checkout, "new"), "replaced");
  renameSync(join(checkout, "new"), join(checkout, "bank.mjs"));
  await expect.poll(() => changed).toEqual(["shop", "bank"]);
  writeFileSync(join(checkout, "bank.mjs"), "again");
  await expect.poll(() => changed).toEqual(["shop", "bank", "bank"]);
});

function fileOf(content: string): string {
  const path = join(folder(), "mine.json");
  writeFileSync(path, content);
  return path;
}

test.each([
  ["a model without a provider", { MODEL: "gpt-4o" }, /MODEL is "gpt-4o".*openai:<model>/],
  ["a model without its key", { MODEL: "openai:gpt-4o" }, /set OPENAI_API_KEY/],
  ["an invalid number", { MODEL_TIMEOUT_MS: "soon" }, /MODEL_TIMEOUT_MS/],
  [
    "a servers file that does not exist",
    { MCP_SERVERS_FILE: "nope.json" },
    /nope\.json: does not exist.*MCP_SERVERS_FILE/,
  ],
  ["a servers file that is not JSON", { MCP_SERVERS_FILE: fileOf("{") }, /mine\.json: is not JSON/],
  ["a servers file without servers", { MCP_SERVERS_FILE: fileOf("{}") }, /"mcpServers"/],
  [
    "a server that cannot be started or called",
    { MCP_SERVERS_FILE: fileOf('{"mcpServers":{"shop":{"comand":"shop"}}}') },
    /server "shop": needs "command" .* or "url"/,
  ],
])("%s is reported before anything is started", async (_what, env, message) => {
  const dataDir = join(folder(), "data");
  await expect(startStack({ dataDir, env: { PATH: process.env["PATH"], ...env } })).rejects.toThrow(message);
  expect(existsSync(dataDir)).toBe(false);
});

test("a warning of Node is no wrong setting", async () => {
  const env = { PATH: process.env["PATH"], NODE_EXTRA_CA_CERTS: join(folder(), "gone.pem") };
  await checkSettings("planner", {
    ...env,
    MONGODB_URL: "mongodb://127.0.0.1:1",
    REDIS_URL: "redis://127.0.0.1:1",
  });
});

test("a folder has one holder at a time, and is free after its release", async () => {
  const dir = folder();
  const first = await holdFolder(dir);
  expect(first).toBeDefined();
  expect(await holdFolder(dir)).toBeUndefined();
  expect(await holdFolder(folder())).toBeDefined();
  first?.release();
  expect(await holdFolder(dir)).toBeDefined();
});

test("of starts at the same time one gets the folder, also where a killed one has left its socket", async () => {
  const dir = folder();
  const held = async () => (await Promise.all([1, 2, 3, 4].map(() => holdFolder(dir)))).filter(Boolean);
  const first = await held();
  expect(first).toHaveLength(1);
  const socket = fileAbout(dir, "sock");
  const left = `${socket}.left`;
  linkSync(socket, left); // as a process that is killed leaves it
  first[0]?.release();
  await expect.poll(() => existsSync(socket)).toBe(false);
  renameSync(left, socket);
  expect(await held()).toHaveLength(1);
});

/** A file about a folder in the folder for temporary files. */
function fileAbout(dir: string, ending: string): string {
  const name = createHash("sha256").update(dir).digest("hex").slice(0, 16);
  return join(tmpdir(), `planwright-${name}.${ending}`);
}

test("a start that was killed while it looked holds up no other", async () => {
  const dir = folder();
  const mark = fileAbout(dir, "turn");
  mkdirSync(mark);
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(mark, longAgo, longAgo);
  expect(await holdFolder(dir)).toBeDefined();
  expect(existsSync(mark)).toBe(false);
});

test.each([
  ["below a file", () => join(fileOf("{}"), "data"), "ENOTDIR"],
  ["that is a file", () => fileOf("{}"), "EEXIST"],
  ["with a name that is too long", () => join(folder(), "a".repeat(300)), "ENAMETOOLONG"],
  ["with a path that is too long", () => join(folder(), "aaa/".repeat(2_000)), "ENAMETOOLONG"],
  ["where the system makes none", () => "/proc/x", "ENOENT"],
  ["below one where the system makes none", () => "/proc/x/y/z", "ENOENT"],
])("a data folder %s is an error that names the setting", async (_what, path, code) => {
  await expect(holdFolder(path())).rejects.toThrow(
    new RegExp(`^Data cannot be stored in .* \\(${code}: .*\\)\\. Set DATA_DIR to a folder`),
  );
});

test("a folder for temporary files whose path is too long for a socket is named with its setting", async () => {
  const dataDir = folder();
  vi.stubEnv("TMPDIR", join(folder(), "a".repeat(200)));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(holdFolder(dataDir)).rejects.toThrow(
    /^Data cannot be stored in .*a{200} .* Set TMPDIR to a folder/,
  );
});

test("a data folder is made with its parents, and one with a file in the way of the data is named", async () => {
  const dataDir = join(folder(), "a", "b");
  (await holdFolder(dataDir))?.release();
  writeFileSync(join(dataDir, "mongo"), "");
  const env = { PATH: process.env["PATH"], REDIS_URL: "redis://127.0.0.1:1" };
  await expect(startStack({ dataDir, env })).rejects.toThrow(
    /^Data cannot be stored in .*EEXIST.* Set DATA_DIR/,
  );
});

test.each([
  ["abc", undefined],
  ["0", undefined],
  ["65536", undefined],
  ["-1", undefined],
  ["4e3", undefined],
  ["", 4000],
  ["4801", 4801],
])("PORT=%s is the port %s", (text, port) => {
  const read = () => apiPortOf({ PORT: text });
  if (port === undefined) expect(read).toThrow(`PORT is "${text}": set it to a whole number from 1 to 65535`);
  else expect(read()).toBe(port);
});
