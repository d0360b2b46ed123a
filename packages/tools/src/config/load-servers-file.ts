import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import {
  CodedError,
  ContractDeclarationSchema,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  SecretNameSchema,
} from "@planwright/plan";
import json5 from "json5";
import { z } from "zod";
import { knownPackageProblem } from "./known-contracts.ts";

/**
 * Reads the configuration of MCP servers in the usual form: `{ "mcpServers": { name: { command, args, env,
 * cwd } | { url, headers } } }`, where each server may also have `type` (`stdio`, `http` or `sse`), `trusted`,
 * `disabled`, `timeoutMs`, and `tools` with contracts. Files of other clients are read too: comments, trailing
 * commas, a byte order mark, `servers`, and the fields of {@link entryOfOtherClients}. Placeholders inside
 * texts are replaced from `variables`, and only from there ({@link expandVariables}).
 *
 * Servers without `cwd` may run in another folder, so relative paths in their `command` and `args` become
 * absolute where they exist: in the working directory of this process, or in the folder of the file.
 * @throws {ServersFileError} with every server and field that has an error
 */
export async function loadServersFile(file: string, variables: Variables = {}): Promise<ServersConfig> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    const message = isAbsent ? "does not exist; correct MCP_SERVERS_FILE or unset it" : "cannot be read";
    throw new ServersFileError(resolve(file), [{ message }], error);
  }
  let content: unknown;
  try {
    content = parseServersText(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON5: /, "") : "unknown reason";
    throw new ServersFileError(resolve(file), [{ message: `is not JSON: ${reason} (line:column)` }], error);
  }
  const config = parseServers(content, { file: resolve(file), variables });
  const folders = [process.cwd(), dirname(resolve(file))];
  const servers = Object.entries(config.mcpServers).map(([name, server]) => [
    name,
    withAbsolutePaths(server, folders),
  ]);
  return { ...config, mcpServers: Object.fromEntries(servers) };
}

/** The content of a servers file: JSON, also with comments and trailing commas, in UTF-8 or UTF-16. */
function parseServersText(bytes: Buffer): unknown {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  // The decoder removes a byte order mark.
  return json5.parse(new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes));
}

/** The same for content that was already read; paths stay as they are. @throws {ServersFileError} */
export function parseServers(
  content: unknown,
  { file = "(given)", variables = {} }: { file?: string; variables?: Variables } = {},
): ServersConfig {
  const given = serversIn(content);
  if (!isJsonObject(content) || given === undefined) {
    throw new ServersFileError(file, [
      { message: 'must be an object with a field "mcpServers" or "servers"' },
    ]);
  }
  const inputs = inputsIn(content);
  const problems: { server: string; field?: string; message: string }[] = [];
  const servers: [string, unknown][] = [];
  for (const [server, raw] of Object.entries(given)) {
    const name = ServerNameSchema.safeParse(server);
    if (!name.success) {
      const better =
        server
          .replace(/[^A-Za-z0-9._-]+/g, "-")
          .replace(/^-|-$/g, "")
          .slice(0, 128) || "server";
      problems.push({ server, message: `its name ${name.error.issues[0]?.message}; write "${better}"` });
      continue;
    }
    const onProblem = (message: string, path: readonly (string | number)[]) =>
      void problems.push({ server, field: path.join("."), message });
    const expanded = expandVariables(raw, { variables, inputs, onProblem });
    if (!isJsonObject(expanded)) {
      servers.push([server, expanded]);
      continue;
    }
    const read = entryOfOtherClients(expanded);
    problems.push(...read.problems.map((problem) => ({ server, ...problem })));
    if ("type" in read.entry || read.problems.length > 0) servers.push([server, read.entry]);
    else problems.push({ server, message: NO_KIND });
  }
  const parsed = ServersConfigSchema.safeParse({ mcpServers: Object.fromEntries(servers) });
  const invalid = (parsed.error?.issues ?? []).flatMap((issue) => {
    const [, server, ...field] = issue.path.map(String);
    const place = field.join(".") || undefined;
    const isReported = problems.some((problem) => problem.server === server && problem.field === place);
    return isReported ? [] : [{ server, field: place, message: issue.message }];
  });
  const unknown = Object.entries(parsed.data?.mcpServers ?? {}).flatMap(([server, config]) => {
    const message = knownPackageProblem(config);
    return message === undefined ? [] : [{ server, field: "contracts", message }];
  });
  const all = [...problems, ...invalid, ...unknown];
  if (all.length > 0 || !parsed.success) throw new ServersFileError(file, all);
  return parsed.data;
}

const TWO_KINDS = 'stands beside "command"; keep "command" to start a program, or "url" to call an address';
const NO_KIND = 'needs "command" (a program to start) or "url" (an address to call)';

/** The servers of a file: in the usual field, or in those of VS Code. */
function serversIn(content: unknown): JsonObject | undefined {
  if (!isJsonObject(content)) return undefined;
  const { mcp } = content;
  const inner = isJsonObject(mcp) ? [mcp["servers"], mcp["mcpServers"]] : [];
  return [content["mcpServers"], content["servers"], ...inner].find(isJsonObject);
}

/** What a file of VS Code says about its inputs, by their ids. */
function inputsIn({ inputs }: JsonObject): Map<string, string> {
  const list = Array.isArray(inputs) ? inputs.filter(isJsonObject) : [];
  return new Map(
    list.flatMap(({ id, description }) =>
      typeof id === "string" && typeof description === "string" ? [[id, description.slice(0, 100)]] : [],
    ),
  );
}

function withAbsolutePaths(server: ServerConfig, folders: readonly string[]): ServerConfig {
  if (server.type !== "stdio" || server.cwd !== undefined) return server;
  const hasFolder = (text: string) => text.includes("/") || text.includes(sep);
  const found = (text: string) => {
    if (text === "" || isAbsolute(text) || text.length > 4_096 || /[\0\n]/.test(text)) return undefined;
    // A word alone may be anything else: the name of a file only where it was one before.
    const isPath = hasFolder(text) || text.includes(".");
    const folder = folders.slice(0, isPath ? 2 : 1).find((each) => existsSync(join(each, text)));
    return folder === undefined ? undefined : join(folder, text);
  };
  const { command, args } = server;
  return {
    ...server,
    command: (hasFolder(command) ? found(command) : undefined) ?? command,
    args: args.map((arg, index) => {
      const [, option, value] = /^(--?[\w-]+=)(.+)$/s.exec(arg) ?? [];
      if (option !== undefined && value !== undefined) {
        return hasFolder(value) || value.startsWith(".") ? `${option}${found(value) ?? value}` : arg;
      }
      // A first word without a sign is a subcommand, such as `run`, not a folder of this name.
      if (arg.startsWith("-") || (index === 0 && /^[\w-]+$/.test(arg))) return arg;
      return found(arg) ?? arg;
    }),
  };
}

/** Values of `type` and `transport`, without signs between letters. */
const TYPES: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  https: "http",
  remote: "http",
  streamable: "http",
  streamablehttp: "http",
  httpstream: "http",
  sse: "sse",
  httpsse: "sse",
};
/** Fields for the address, the strongest first. */
const ADDRESS_FIELDS = ["httpUrl", "url", "serverUrl"];
/** What other clients keep there, and what changes no call here: approval in a chat, labels, icons. */
const IGNORED_FIELDS = [
  "alwaysAllow",
  "autoApprove",
  "trust",
  "description",
  "name",
  "title",
  "id",
  "tags",
  "icon",
  "iconPath",
  "icons",
  "logoUrl",
  "provider",
  "providerUrl",
  "reference",
  "gallery",
  "fromGalleryId",
  "version",
  "dev",
  "note",
  "comment",
  "$schema",
];
/** Fields that choose tools. Ignoring them would offer tools that were taken away. */
const TOOL_CHOICE_FIELDS = ["includeTools", "excludeTools", "enabledTools", "disabledTools"];
/** Largest number of seconds of the clients that write seconds: an hour. */
const MAX_SECONDS = 3_600;

/** An entry in our form, and what cannot be read. */
interface ReadEntry {
  entry: JsonObject;
  problems: { field: string; message: string }[];
}

/**
 * The entry of one server in our form, from the forms of other clients: their names for `type` and `url`,
 * `timeout`, `enabled` and `isActive`, null for absent, numbers as values of variables, and fields that mean
 * nothing here.
 *
 * `timeout` is in seconds with Cline and Roo Code (1 to 3,600), and in milliseconds with Claude Code (which
 * ignores values below 1,000), Gemini CLI, Copilot and opencode. So a value below 1,000 is seconds, and one
 * above 3,600 milliseconds. Between them it is seconds where the entry has a field that Cline and Roo Code
 * write.
 */
function entryOfOtherClients(given: JsonObject): ReadEntry {
  const problems: ReadEntry["problems"] = [];
  const { type, transport, transportType, timeout, enabled, isActive, tools, auth, oauth, ...rest } =
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const entry: JsonObject = { ...rest };
  for (const field of IGNORED_FIELDS) delete entry[field];

  const address = ADDRESS_FIELDS.map((field) => entry[field]).find((value) => value !== undefined);
  for (const field of ADDRESS_FIELDS) delete entry[field];
  if (address !== undefined) entry["url"] = address;

  const signIn = signInOf(oauth ?? auth);
  if (signIn !== undefined) entry["auth"] = signIn;

  const types = [type, transport, transportType].filter((value) => value !== undefined).map(typeOf);
  if (types.includes(undefined)) {
    const field = type === undefined ? "transport" : "type";
    problems.push({ field, message: 'is not known; write "stdio", "http" or "sse"' });
  }
  if (types.length === 0 && "command" in entry && "url" in entry) {
    problems.push({ field: "url", message: TWO_KINDS });
    delete entry["url"];
  }
  const kind = types.find((value) => value === "sse") ?? types[0] ?? kindOf(entry);
  if (kind !== undefined) entry["type"] = kind === "sse" ? "http" : kind;
  if (kind === "sse") entry["transport"] = "sse";

  if (enabled === false || isActive === false) entry["disabled"] = true;
  if (typeof timeout === "number" && entry["timeoutMs"] === undefined)
    entry["timeoutMs"] = millisecondsOf(timeout, given);
  else if (timeout !== undefined && typeof timeout !== "number")
    problems.push({ field: "timeout", message: 'must be a number; write "timeoutMs" in milliseconds' });

  if (Array.isArray(tools)) {
    if (!tools.includes("*")) problems.push({ field: "tools", message: CHOICE });
  } else if (tools !== undefined) entry["tools"] = tools;
  for (const field of TOOL_CHOICE_FIELDS) {
    const chosen = entry[field];
    delete entry[field];
    const isEmpty =
      chosen === undefined || (Array.isArray(chosen) && chosen.length === 0 && field !== "includeTools");
    if (!isEmpty) problems.push({ field, message: CHOICE });
  }
  for (const field of ["env", "headers"]) {
    const values = entry[field];
    if (isJsonObject(values)) entry[field] = textsOf(values);
  }
  return { entry, problems };
}

/** What concerns the callback of a client on one machine: here that is the API. */
const CALLBACK_FIELDS = ["enabled", "callbackPort", "redirectUri"];
/** Names of Cursor. */
const CURSOR_FIELDS: Readonly<Record<string, string>> = {
  CLIENT_ID: "clientId",
  CLIENT_SECRET: "clientSecret",
};

/**
 * The sign-in in our form: also `oauth` of Claude Code and Gemini CLI, and `auth` with the names of Cursor. What is no
 * object stays, and is refused with a message. Undefined: there is none.
 */
function signInOf(given: JsonValue | undefined): JsonValue | undefined {
  if (given === "oauth") return {};
  if (!isJsonObject(given)) return given;
  if (given["enabled"] === false) return undefined;
  const fields = Object.entries(given)
    .filter(([name, value]) => value !== null && !CALLBACK_FIELDS.includes(name))
    .map(([name, value]): [string, JsonValue] => {
      const isText = name === "scopes" && typeof value === "string";
      return [CURSOR_FIELDS[name] ?? name, isText ? value.split(/\s+/).filter(Boolean) : value];
    });
  return Object.fromEntries(fields);
}

const CHOICE =
  "chooses tools, which is not possible here; remove it, and let the server offer only the tools that you want";

function typeOf(value: JsonValue): "stdio" | "http" | "sse" | undefined {
  const name = typeof value === "string" ? value.toLowerCase().replace(/[^a-z]/g, "") : "";
  return Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
}

/** Most servers are written without `type`: one with a command is stdio, one with a url is HTTP. */
function kindOf(entry: JsonObject): "stdio" | "http" | undefined {
  if (typeof entry["command"] === "string") return "stdio";
  return "url" in entry ? "http" : undefined;
}

function millisecondsOf(timeout: number, given: JsonObject): number {
  const isOfCline = "alwaysAllow" in given || "autoApprove" in given;
  const isSeconds = timeout < 1_000 || (isOfCline && timeout <= MAX_SECONDS);
  return Math.round(isSeconds ? timeout * 1_000 : timeout);
}

/** Numbers and booleans as the texts that variables and headers are. */
function textsOf(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [
        name,
        typeof value === "number" || typeof value === "boolean" ? String(value) : value,
      ]),
  );
}

/** The servers file cannot be used. Names the file, and the server and field with the error, if any. */
export class ServersFileError extends CodedError<{
  file: string;
  problems: { server?: string | undefined; field?: string | undefined; message: string }[];
}> {
  readonly code = "SERVERS_FILE_INVALID";
  readonly retryable = false;
  constructor(
    file: string,
    problems: { server?: string | undefined; field?: string | undefined; message: string }[],
    cause?: unknown,
  ) {
    const lines = problems.map(({ server, field, message }) => {
      const where = [server === undefined ? undefined : `server "${server}"`, field]
        .filter(Boolean)
        .join(", ");
      return where === "" ? message : `${where}: ${message}`;
    });
    super(`Servers file ${file}: ${lines.join("; ")}`, { file, problems }, { cause });
  }
}

/** Variables that `${VAR}` in a servers file may name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Placeholders of all clients: `$${` is the text `${`. */
const PLACEHOLDER = /\$\$\{|\$\{\{([^{}]*)\}\}|\$\{([^{}]*)\}/g;
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const INPUT = /^input:\s*(\S.*?)\s*$/s;
/** A whole credential, with its scheme, that is a variable as shells and some clients write it. */
const WHOLE_VARIABLE =
  /^((?:Bearer|Basic|Token) +)?(?:\$([A-Z_][A-Z0-9_]*)|%([A-Z_][A-Z0-9_]*)%|\{env:([A-Za-z_][A-Za-z0-9_]*)\})$/i;
/** A whole credential, with its scheme, that a person was meant to replace. */
const TO_REPLACE =
  /^(?:(?:Bearer|Basic|Token) +)?(?:<[^<>]{1,80}>|\{\{[^{}]{1,80}\}\}|\[?(?:YOUR|INSERT|REPLACE)[_-][A-Z0-9_-]{1,80}\]?)$/i;

/** What an expansion needs. */
interface Expansion {
  variables: Variables;
  /** What the file says about its inputs, by their ids. */
  inputs: ReadonlyMap<string, string>;
  /** Called for each placeholder that has no value, with what to do about it. */
  onProblem: (message: string, path: Path) => void;
}

type Path = readonly (string | number)[];

/**
 * A copy of a JSON value in which the placeholders in texts are replaced: `${VAR}` and `${env:VAR}`, both also
 * with a default (`${VAR:-default}`), `${input:id}` (from the variable INPUT_ID), `${userHome}`. In `env` and
 * `headers`, which hold credentials, also texts that are nothing but `$VAR`, `%VAR%` or `{env:VAR}`. An unknown
 * placeholder is a problem, so none is sent as a credential. Replaced text is not expanded again. Names of
 * fields stay as they are.
 */
function expandVariables(value: unknown, expansion: Expansion, path: Path = []): unknown {
  if (typeof value === "string") return expandText(value, expansion, path);
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, expansion, [...path, index]));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, expandVariables(field, expansion, [...path, key])]),
  );
}

function expandText(text: string, expansion: Expansion, path: Path): string {
  const { onProblem } = expansion;
  const isCredential = path[0] === "env" || path[0] === "headers";
  if (isCredential && TO_REPLACE.test(text)) {
    onProblem(`${text} stands for a value; write the value, or \${NAME} for the variable NAME`, path);
    return "";
  }
  const whole = isCredential ? WHOLE_VARIABLE.exec(text) : null;
  if (whole) return `${whole[1] ?? ""}${valueOf(whole[2] ?? whole[3] ?? whole[4] ?? "", expansion, path)}`;
  return text.replace(PLACEHOLDER, (all, ofOthers: string | undefined, inside: string | undefined) => {
    if (inside !== undefined) return valueOf(inside, expansion, path);
    if (ofOthers === undefined) return "${";
    return unknownPlaceholder(all, expansion, path);
  });
}

/** The value for what stands inside a placeholder. */
function valueOf(inside: string, expansion: Expansion, path: Path): string {
  const { variables, inputs, onProblem } = expansion;
  const variableOf = (name: string) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  const [, input] = INPUT.exec(inside) ?? [];
  if (input !== undefined) {
    const name = `INPUT_${input.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}`;
    const found = variableOf(name);
    const about = inputs.get(input);
    if (found === undefined)
      onProblem(
        `input ${input}${about ? ` (${about})` : ""} is not given; set the variable ${name} to it`,
        path,
      );
    return found ?? "";
  }
  const [, name, fallback] = VARIABLE.exec(inside) ?? [];
  if (name === undefined) return unknownPlaceholder(`\${${inside}}`, expansion, path);
  const found = variableOf(name) ?? (name === "userHome" ? variableOf("HOME") : undefined);
  if (found === undefined && fallback === undefined) onProblem(`variable ${name} is not set`, path);
  return found ?? fallback ?? "";
}

function unknownPlaceholder(text: string, { onProblem }: Expansion, path: Path): string {
  const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  onProblem(
    `placeholder ${shown} is not known; write \${NAME} for the variable NAME, or $\${ for the characters \${`,
    path,
  );
  return "";
}

/** Name of a server in the configuration; it distinguishes tools of equal names: `server/tool`. */
const ServerNameSchema = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 . _ -");

/** Which tools and tenants may send a secret to a server; an absent list is no limit. */
const SecretGrantSchema = z.strictObject({
  /** The names of the tools on the server. */
  tools: z.array(z.string().min(1).max(128)).max(1_000).optional(),
  tenants: z.array(z.string().min(1).max(200)).max(1_000).optional(),
});

const common = {
  /**
   * True: hints of this server may also loosen the contracts of its tools. False: no hint may. Absent:
   * `readOnlyHint` may, for parallelism and repeats.
   */
  trusted: z.boolean().optional(),
  disabled: z.boolean().default(false),
  /**
   * "known": tools get the reviewed contracts that we ship for the package in the command line; "known:PACKAGE"
   * names the package. Absent: they get none.
   */
  contracts: z
    .string()
    .max(256)
    .regex(/^known(:.+)?$/, 'must be "known" or "known:PACKAGE"')
    .optional(),
  /** The operator's contracts of tools, by tool name; they override all other declarations. */
  tools: z.record(z.string().min(1).max(256), ContractDeclarationSchema.strict()).default({}),
  /** Secrets that plans may send to this server, by name; no others are sent. */
  secrets: z.record(SecretNameSchema, SecretGrantSchema).default({}),
  /** Longest that a tool call may take, in milliseconds; calls that ask for less get less. */
  timeoutMs: z.number().int().min(1).max(3_600_000).optional(),
};

/** A server that is started as a child process and reached over its standard input and output. */
const StdioServerSchema = z.strictObject({
  type: z.literal("stdio"),
  command: z.string().min(1).max(4_096),
  args: z.array(z.string().max(65_536)).max(1_000).default([]),
  /**
   * Variables of the process beside PATH, HOME and the like. No other variable of our environment is passed.
   */
  env: z.record(z.string().min(1), z.string()).default({}),
  cwd: z.string().min(1).max(4_096).optional(),
  ...common,
});

/** Characters of a scope. @see RFC 6749, section 3.3 */
const SCOPE = /^[!#-[\]-~]+$/;

/** How to sign in at a server by OAuth 2.1. */
const AuthSchema = z
  .strictObject({
    type: z.literal("oauth").default("oauth"),
    /**
     * `authorization_code`: a person signs in, in a browser. `client_credentials`: the executor signs in itself, with
     * `clientId` and `clientSecret`.
     */
    grant: z.enum(["authorization_code", "client_credentials"]).default("authorization_code"),
    /** Absent: the executor registers itself at the authorization server. */
    clientId: z.string().min(1).max(2_048).optional(),
    clientSecret: z.string().min(1).max(2_048).optional(),
    /** Absent: the scopes that the server asks for. */
    scopes: z.array(z.string().max(256).regex(SCOPE, "must be a scope of OAuth")).max(100).optional(),
  })
  .refine(
    ({ grant, clientId, clientSecret }) => grant === "authorization_code" || (clientId && clientSecret),
    { path: ["clientId"], error: "client_credentials needs clientId and clientSecret" },
  )
  .refine(({ clientId, clientSecret }) => clientId !== undefined || clientSecret === undefined, {
    path: ["clientSecret"],
    error: "needs clientId beside it",
  });

/** A server that is reached over HTTP. */
const HttpServerSchema = z.strictObject({
  type: z.literal("http"),
  /**
   * "sse": the older HTTP+SSE transport is tried first. Absent: streamable HTTP. Where the server refuses that,
   * the other one is tried.
   */
  transport: z.literal("sse").optional(),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(4_096),
  headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().max(65_536)).default({}),
  auth: AuthSchema.optional(),
  ...common,
});

/** How to reach one MCP server. */
export const ServerConfigSchema = z.discriminatedUnion("type", [StdioServerSchema, HttpServerSchema]);
export type StdioServerConfig = z.output<typeof StdioServerSchema>;
export type HttpServerConfig = z.output<typeof HttpServerSchema>;
export type ServerConfig = z.output<typeof ServerConfigSchema>;

export type SecretGrant = z.output<typeof SecretGrantSchema>;

/** All MCP servers, by name. */
export const ServersConfigSchema = z.strictObject({
  mcpServers: z.record(ServerNameSchema, ServerConfigSchema),
});
export type ServersConfig = z.output<typeof ServersConfigSchema>;
/** The form that people write: fields with a default may be missing. */
export type ServersConfigInput = z.input<typeof ServersConfigSchema>;

/** The servers at which executors sign in, by name. */
export function signedServers({ mcpServers }: ServersConfig): Map<string, SignedServerConfig> {
  return new Map(
    Object.entries(mcpServers).filter(
      (entry): entry is [string, SignedServerConfig] =>
        entry[1].type === "http" && entry[1].auth !== undefined && !entry[1].disabled,
    ),
  );
}

/** A server with a sign-in. */
type SignedServerConfig = HttpServerConfig & { auth: NonNullable<HttpServerConfig["auth"]> };
