import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isJsonObject } from "@planwright/plan";
import { expandVariables, type Variables } from "./expand-variables.ts";
import { knownPackageProblem } from "./known-contracts.ts";
import { type ServersConfig, ServersConfigSchema } from "./server-config.ts";
import { ServersFileError } from "./servers-file-error.ts";

/**
 * Reads the configuration of MCP servers in the usual form: `{ "mcpServers": { name: { command, args, env,
 * cwd } | { url, headers } } }`, where each server may also have `type` (`stdio`, `http` or
 * `streamable-http`), `trusted`, `disabled`, `timeoutMs`, and `tools` with contracts. `${VAR}` and
 * `${VAR:-default}` inside texts are replaced from `variables`, and only from there.
 * @throws {ServersFileError} with every server and field that has an error
 */
export async function loadServersFile(file: string, variables: Variables = {}): Promise<ServersConfig> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    const message = isAbsent ? "does not exist; correct MCP_SERVERS_FILE or unset it" : "cannot be read";
    throw new ServersFileError(resolve(file), [{ message }], error);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ServersFileError(resolve(file), [{ message: `is not JSON: ${reason}` }], error);
  }
  return parseServers(content, { file: resolve(file), variables });
}

/** The same for content that was already read. @throws {ServersFileError} */
export function parseServers(
  content: unknown,
  { file = "(given)", variables = {} }: { file?: string; variables?: Variables } = {},
): ServersConfig {
  if (!isJsonObject(content) || !isJsonObject(content["mcpServers"])) {
    throw new ServersFileError(file, [{ message: 'must be an object with a field "mcpServers"' }]);
  }
  const missing: { server: string; field?: string; message: string }[] = [];
  const servers = Object.entries(content["mcpServers"]).map(([server, entry]) => {
    if (!hasKind(entry)) missing.push({ server, message: NO_KIND });
    const expanded = expandVariables(entry, variables, (variable, path) => {
      missing.push({ server, field: path.join("."), message: `variable ${variable} is not set` });
    });
    return [server, withType(expanded)];
  });
  const parsed = ServersConfigSchema.safeParse({ mcpServers: Object.fromEntries(servers) });
  const invalid = (parsed.error?.issues ?? []).flatMap((issue) => {
    const [, server, ...field] = issue.path.map(String);
    const isReported = missing.some((problem) => problem.server === server && problem.message === NO_KIND);
    return isReported ? [] : [{ server, field: field.join(".") || undefined, message: issue.message }];
  });
  const unknown = Object.entries(parsed.data?.mcpServers ?? {}).flatMap(([server, config]) => {
    const message = knownPackageProblem(config);
    return message === undefined ? [] : [{ server, field: "contracts", message }];
  });
  const problems = [...missing, ...invalid, ...unknown];
  if (problems.length > 0 || !parsed.success) throw new ServersFileError(file, problems);
  return parsed.data;
}

const NO_KIND = 'needs "command" (a program to start) or "url" (an address to call)';

function hasKind(entry: unknown): boolean {
  return !isJsonObject(entry) || ["type", "command", "url"].some((field) => Object.hasOwn(entry, field));
}

/** Most servers are written without `type`: one with a command is stdio, one with a url is HTTP. */
function withType(entry: unknown): unknown {
  if (!isJsonObject(entry)) return entry;
  if (entry["type"] === "streamable-http") return { ...entry, type: "http" };
  if (entry["type"] !== undefined) return entry;
  if (typeof entry["command"] === "string") return { type: "stdio", ...entry };
  return "url" in entry ? { type: "http", ...entry } : entry;
}
