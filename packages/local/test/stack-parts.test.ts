import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { holdFolder, startStack } from "../src/index.ts";
import { writeMcpServersFile } from "../src/stack/mcp-servers-file.ts";

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

test("a folder has one holder at a time, and is free after its release", async () => {
  const dir = folder();
  const first = await holdFolder(dir);
  expect(first).toBeDefined();
  expect(await holdFolder(dir)).toBeUndefined();
  expect(await holdFolder(folder())).toBeDefined();
  first?.release();
  expect(await holdFolder(dir)).toBeDefined();
});

test("a data folder that cannot be made is an error that names the setting", async () => {
  await expect(holdFolder(join(fileOf("{}"), "data"))).rejects.toThrow(
    /^Data cannot be stored in .*mine\.json.data \(ENOTDIR: .*\)\. Set DATA_DIR to a folder/,
  );
});
