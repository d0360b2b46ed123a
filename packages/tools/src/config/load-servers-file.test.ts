import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@planwright/plan";
import { expect, test } from "vitest";
import { loadServersFile, parseServers, ServersFileError } from "./load-servers-file.ts";

async function fileWith(text: string | Buffer): Promise<string> {
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

test.each([
  ["${TOKEN}", "t"],
  ["${env:TOKEN}", "t"],
  ["Bearer ${env:TOKEN}", "Bearer t"],
  ["${env:NO:-d}", "d"],
  ["${input:shop key}", "k"],
  ["$TOKEN", "t"],
  ["%TOKEN%", "t"],
  ["{env:TOKEN}", "t"],
  ["Bearer $TOKEN", "Bearer t"],
  ["${userHome}/x", "/home/me/x"],
  ["$${TOKEN}", "${TOKEN}"],
  ["pa$$word$1", "pa$$word$1"],
])("%s in a credential is %s", (text, value) => {
  const variables = { TOKEN: "t", HOME: "/home/me", INPUT_SHOP_KEY: "k" };
  const content = { mcpServers: { a: { command: "x", env: { K: text } } } };
  expect(parseServers(content, { variables }).mcpServers["a"]).toMatchObject({ env: { K: value } });
});

const http = { type: "http", url: "http://x" };
const stdio = { type: "stdio", command: "x" };
test.each<[string, object, object]>([
  ["streamableHttp", { type: "streamableHttp", url: "http://x" }, http],
  ["streamable-http", { type: "streamable-http", url: "http://x" }, http],
  ["streamable_http as transport", { transport: "streamable_http", url: "http://x" }, http],
  ["the older transport", { type: "sse", url: "http://x" }, { ...http, transport: "sse" }],
  ["the older transport as transport", { transport: "sse", url: "http://x" }, { ...http, transport: "sse" }],
  ["our own form of it", { type: "http", transport: "sse", url: "http://x" }, { ...http, transport: "sse" }],
  ["serverUrl", { serverUrl: "http://x" }, http],
  ["httpUrl before url", { httpUrl: "http://x", url: "http://y" }, http],
  ["a local server", { type: "local", command: "x" }, stdio],
  ["approvals in a chat", { command: "x", alwaysAllow: ["a"], autoApprove: [], trust: true }, stdio],
  ["labels", { command: "x", description: "d", name: "n", tags: ["t"], gallery: true }, stdio],
  ["enabled", { command: "x", enabled: false }, { ...stdio, disabled: true }],
  ["isActive", { command: "x", isActive: false }, { ...stdio, disabled: true }],
  ["null for absent", { command: "x", args: null, env: null, cwd: null, url: null, timeout: null }, stdio],
  [
    "numbers as variables",
    { command: "x", env: { PORT: 3000, DEBUG: true, NO: null } },
    { ...stdio, env: { PORT: "3000", DEBUG: "true" } },
  ],
  ["all tools chosen", { command: "x", tools: ["*"], disabledTools: [] }, { ...stdio, tools: {} }],
  ["a minute in seconds", { command: "x", timeout: 60 }, { ...stdio, timeoutMs: 60_000 }],
  [
    "an hour in seconds, as Cline writes it",
    { command: "x", timeout: 3600, alwaysAllow: [] },
    { ...stdio, timeoutMs: 3_600_000 },
  ],
  ["a minute in milliseconds", { command: "x", timeout: 60_000 }, { ...stdio, timeoutMs: 60_000 }],
  ["3 s in milliseconds", { command: "x", timeout: 3000 }, { ...stdio, timeoutMs: 3_000 }],
  ["our own field before others", { command: "x", timeout: 60, timeoutMs: 5 }, { ...stdio, timeoutMs: 5 }],
])("an entry with %s is read", (_, entry, expected) => {
  const { mcpServers } = parseServers({ mcpServers: { a: entry } });
  expect(mcpServers["a"]).toMatchObject(expected);
});

test("a field trust of another client trusts no server", () => {
  const { mcpServers } = parseServers({ mcpServers: { a: { command: "x", trust: true } } });
  expect(mcpServers["a"]).not.toHaveProperty("trusted");
});

test.each<[string, string | Buffer]>([
  ["a byte order mark", '\uFEFF{"mcpServers":{"a":{"command":"x"}}}'],
  ["UTF-16", Buffer.from('\uFEFF{"mcpServers":{"a":{"command":"x"}}}', "utf16le")],
  [
    "comments and trailing commas",
    '{\n// mine\n"mcpServers": {"a": {"command": "x", /* no */ "args": [],},},}',
  ],
  ["the field of VS Code", '{"servers":{"a":{"type":"stdio","command":"x"}},"inputs":[]}'],
  ["the settings of VS Code", '{"mcp":{"servers":{"a":{"command":"x"}}}}'],
])("a file with %s is read", async (_, text) => {
  const { mcpServers } = await loadServersFile(await fileWith(text));
  expect(mcpServers["a"]).toMatchObject(stdio);
});

test("an error in a file names its line", async () => {
  await expect(loadServersFile(await fileWith('{\n  "mcpServers": {\n    "a": }\n}'))).rejects.toThrow(
    "is not JSON: invalid character '}' at 3:10 (line:column)",
  );
});

test("paths that exist become absolute, from the working directory or the folder of the file", async () => {
  const file = await fileWith(
    JSON.stringify({
      mcpServers: {
        a: {
          command: "./servers.json",
          args: ["servers.json", "src", "--file=./servers.json", "src", "none.txt", "-y", "http://x/y"],
        },
        b: { command: "node", args: ["servers.json"], cwd: "/tmp" },
      },
    }),
  );
  const { mcpServers } = await loadServersFile(file);
  expect(mcpServers["a"]).toMatchObject({
    command: file,
    // The first word may be a subcommand; a word alone is looked for in the working directory only.
    args: [file, "src", `--file=${file}`, "src", "none.txt", "-y", "http://x/y"],
  });
  expect(mcpServers["b"]).toMatchObject({ command: "node", args: ["servers.json"] });
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
  [
    { mcpServers: { a: { type: "ws", url: "http://x" } } },
    'server "a", type: is not known; write "stdio", "http" or "sse"',
  ],
  [
    { mcpServers: { "My Server": { command: "x" } } },
    'server "My Server": its name must be 1 to 128 of A-Z a-z 0-9 . _ -; write "My-Server"',
  ],
  [{ mcpServers: { a: { command: "x", excludeTools: ["rm"] } } }, 'server "a", excludeTools: chooses tools'],
  [
    { mcpServers: { a: { command: "x", disabledTools: ["rm"] } } },
    'server "a", disabledTools: chooses tools',
  ],
  [{ mcpServers: { a: { command: "x", tools: ["read"] } } }, 'server "a", tools: chooses tools'],
  [{ mcpServers: { a: { command: "x", timeout: "60s" } } }, 'server "a", timeout: must be a number'],
  [{ mcpServers: { a: { command: "x", envFile: ".env" } } }, 'server "a": Unrecognized key: "envFile"'],
  [
    {
      mcpServers: { a: { command: "x", env: { K: "${input:shop-key}" } } },
      inputs: [{ id: "shop-key", description: "Key of the shop" }],
    },
    'server "a", env.K: input shop-key (Key of the shop) is not given; set the variable INPUT_SHOP_KEY to it',
  ],
  ...["${secrets:KEY}", "${{ secrets.KEY }}", "${file:/run/key}", "${}"].map((text): [object, string] => [
    { mcpServers: { a: { command: "x", env: { K: text } } } },
    `server "a", env.K: placeholder ${text} is not known; write \${NAME} for the variable NAME`,
  ]),
  ...["<YOUR_TOKEN>", "Bearer <token>", "YOUR_API_KEY", "your-api-key", "{{KEY}}", "Bearer YOUR_TOKEN"].map(
    (text): [object, string] => [
      { mcpServers: { a: { url: "http://x", headers: { Authorization: text } } } },
      `server "a", headers.Authorization: ${text} stands for a value`,
    ],
  ),
  [
    { mcpServers: { a: { url: "http://x", headers: { Authorization: "Bearer $NO" } } } },
    "variable NO is not set",
  ],
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

test("a server with a command and a URL is told to keep one of them", () => {
  const content = { mcpServers: { shop: { command: "shop", url: "https://tools.example.com/mcp" } } };
  expect(() => parseServers(content)).toThrow(
    /^Servers file \(given\): server "shop", url: stands beside "command"; keep "command" to start a program, or "url" to call an address$/,
  );
});

const URL_OF = "https://tools.example.com/mcp";
test.each<[string, JsonObject, object | undefined]>([
  ["our own form", { auth: {} }, { grant: "authorization_code" }],
  ["a word", { auth: "oauth" }, { grant: "authorization_code" }],
  [
    "Claude Code",
    { oauth: { clientId: "c", callbackPort: 8080, scopes: "read  write" } },
    { clientId: "c", scopes: ["read", "write"] },
  ],
  [
    "Cursor",
    { auth: { CLIENT_ID: "c", CLIENT_SECRET: "s", scopes: ["read"] } },
    { clientId: "c", clientSecret: "s", scopes: ["read"] },
  ],
  [
    "Gemini CLI",
    { oauth: { enabled: true, clientId: "c", redirectUri: "http://x" } },
    { grant: "authorization_code", clientId: "c" },
  ],
  ["one that is switched off", { oauth: { enabled: false } }, undefined],
])("the sign-in of a server is read in the form of %s", (_name, given, expected) => {
  const [server] = Object.values(parseServers({ mcpServers: { a: { url: URL_OF, ...given } } }).mcpServers);
  if (expected) expect(server).toMatchObject({ auth: expected });
  else expect(server).not.toHaveProperty("auth");
});

test.each<[JsonObject, string]>([
  [{ auth: { grant: "client_credentials" } }, 'server "a", auth.clientId: client_credentials needs'],
  [{ auth: { clientSecret: "s" } }, 'server "a", auth.clientSecret: needs clientId beside it'],
  [{ auth: { scopes: ["two words"] } }, 'server "a", auth.scopes.0: must be a scope'],
  [{ auth: { authorizationUrl: "https://x" } }, 'server "a", auth'],
  [{ auth: 1 }, 'server "a", auth'],
])("a sign-in that cannot be used is refused with its field: %j", (given, problem) => {
  expect(() => parseServers({ mcpServers: { a: { url: URL_OF, ...given } } })).toThrow(problem);
});

test("a server that is started as a process has no sign-in", () => {
  const config = { mcpServers: { a: { command: "node", auth: {} } } };
  expect(() => parseServers(config)).toThrow('server "a"');
});
