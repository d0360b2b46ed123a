import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { holdFolder, McpServersFileError } from "../src/index.ts";
import { writeMcpServersFile } from "../src/stack/mcp-servers-file.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-parts-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("the servers file holds the blog tools and the servers of the user's own file, for its owner alone", () => {
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

test.each([
  ["is not there", undefined],
  ["is not JSON", "{"],
  ["has no mcpServers", "{}"],
])("a user's servers file that %s is refused", (_what, content) => {
  const dir = folder();
  const user = join(dir, "mine.json");
  if (content !== undefined) writeFileSync(user, content);
  expect(() => writeMcpServersFile(join(dir, "servers.json"), "http://x/mcp", user)).toThrow(
    McpServersFileError,
  );
});

test("a folder is held by one at a time, and free again after its release", async () => {
  const dir = folder();
  const first = await holdFolder(dir);
  expect(first).toBeDefined();
  expect(await holdFolder(dir)).toBeUndefined();
  expect(await holdFolder(folder())).toBeDefined();
  first?.release();
  expect(await holdFolder(dir)).toBeDefined();
});
