import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadServersFile, parseServers } from "./load-servers-file.ts";
import { ServersFileError } from "./servers-file-error.ts";

async function fileWith(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "servers-")), "servers.json");
  await writeFile(file, text);
  return file;
}

const defaults = { disabled: false, tools: {}, secrets: {} };

test("a server with a command is stdio, one with a url is HTTP", async () => {
  const file = await fileWith(
    JSON.stringify({
      mcpServers: {
        files: { command: "npx", args: ["-y", "x"], env: { A: "1" }, cwd: "/tmp" },
        blog: { url: "https://example.com/mcp", headers: { Authorization: "Bearer t" }, trusted: true },
        other: { type: "streamable-http", url: "http://localhost:1/mcp", timeoutMs: 5_000, disabled: true },
      },
    }),
  );
  expect(await loadServersFile(file)).toEqual({
    mcpServers: {
      files: { ...defaults, type: "stdio", command: "npx", args: ["-y", "x"], env: { A: "1" }, cwd: "/tmp" },
      blog: {
        ...defaults,
        type: "http",
        url: "https://example.com/mcp",
        headers: { Authorization: "Bearer t" },
        trusted: true,
      },
      other: {
        ...defaults,
        type: "http",
        url: "http://localhost:1/mcp",
        headers: {},
        timeoutMs: 5_000,
        disabled: true,
      },
    },
  });
});

test("only given variables are replaced, once, and defaults apply", () => {
  const { mcpServers } = parseServers(
    {
      mcpServers: {
        a: {
          command: "${BIN}",
          args: ["${ARG:-none}", "${EMPTY:-}", "$HOME", "x${BIN}y"],
          env: { T: "${TOKEN}" },
        },
      },
    },
    { variables: { BIN: "node", TOKEN: "${BIN}", HOME: "/root" } },
  );
  expect(mcpServers["a"]).toMatchObject({
    command: "node",
    args: ["none", "", "$HOME", "xnodey"],
    env: { T: "${BIN}" },
  });
});

test("a server may take the reviewed contracts of its package", () => {
  const a = { command: "npx", args: ["-y", "tavily-mcp"], contracts: "known" };
  const b = { url: "https://example.com/mcp", contracts: "known:tavily-mcp" };
  expect(parseServers({ mcpServers: { a, b } }).mcpServers).toMatchObject({ a, b });
});

test("contracts of tools are kept as the operator wrote them", () => {
  const tools = { pay: { requires_approval: true, max_concurrency: 2 } };
  expect(parseServers({ mcpServers: { a: { command: "x", tools } } }).mcpServers["a"]?.tools).toEqual(tools);
});

test.each([
  [{}, "mcpServers"],
  [{ mcpServers: [] }, "mcpServers"],
  [{ mcpServers: { a: {} } }, 'server "a"'],
  [{ mcpServers: { a: 1 } }, 'server "a"'],
  [{ mcpServers: { "a b": { command: "x" } } }, 'server "a b"'],
  [{ mcpServers: { a: { command: "" } } }, 'server "a", command'],
  [{ mcpServers: { a: { command: "x", args: "y" } } }, 'server "a", args'],
  [{ mcpServers: { a: { command: "x", url: "http://x" } } }, 'server "a"'],
  [{ mcpServers: { a: { url: "ftp://x" } } }, 'server "a", url: must be an http or https URL'],
  [{ mcpServers: { a: { url: "http://x", timeoutMs: 0 } } }, 'server "a", timeoutMs'],
  [{ mcpServers: { a: { url: "http://x", headers: { "a b": "c" } } } }, 'server "a", headers.a b'],
  [{ mcpServers: { a: { type: "sse", url: "http://x" } } }, 'server "a", type'],
  [{ mcpServers: { a: { command: "x", tools: { t: { mode: "fast" } } } } }, 'server "a", tools.t.mode'],
  [{ mcpServers: { a: { command: "x", tools: { t: { colour: "red" } } } } }, 'server "a", tools.t'],
  [{ mcpServers: { a: { command: "x", contracts: "all" } } }, 'server "a", contracts: must be "known"'],
  [
    { mcpServers: { a: { command: "x", contracts: "known" } } },
    'server "a", contracts: has no reviewed contracts',
  ],
  [{ mcpServers: { a: { command: "${NO}" } } }, 'server "a", command: variable NO is not set'],
  [
    { mcpServers: { a: { command: "x", env: { K: "${toString}" } } } },
    'server "a", env.K: variable toString is not set',
  ],
])("%j is refused, and the error names the server and field", (content, text) => {
  expect(() => parseServers(content, { file: "f.json" })).toThrow(ServersFileError);
  expect(() => parseServers(content, { file: "f.json" })).toThrow(`Servers file f.json: `);
  expect(() => parseServers(content, { file: "f.json" })).toThrow(text);
});

test("all errors are reported together", () => {
  const content = { mcpServers: { a: { command: "" }, b: { url: "${X}" } } };
  expect(() => parseServers(content)).toThrow(/server "b", url: variable X is not set.*server "a", command/);
});

test("a file that is missing or not JSON is refused", async () => {
  await expect(loadServersFile("/does/not/exist.json")).rejects.toThrow(
    "/does/not/exist.json: does not exist; correct MCP_SERVERS_FILE or unset it",
  );
  await expect(loadServersFile(await fileWith("{"))).rejects.toThrow("is not JSON");
});

test("a server without a command or URL is reported once", () => {
  expect(() => parseServers({ mcpServers: { shop: { comand: "shop" } } })).toThrow(
    'Servers file (given): server "shop": needs "command" (a program to start) or "url" (an address to call)',
  );
});
