import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";

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
export interface ReadEntry {
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
export function entryOfOtherClients(given: JsonObject): ReadEntry {
  const problems: ReadEntry["problems"] = [];
  const { type, transport, transportType, timeout, enabled, isActive, tools, ...rest } = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null),
  );
  const entry: JsonObject = { ...rest };
  for (const field of IGNORED_FIELDS) delete entry[field];

  const address = ADDRESS_FIELDS.map((field) => entry[field]).find((value) => value !== undefined);
  for (const field of ADDRESS_FIELDS) delete entry[field];
  if (address !== undefined) entry["url"] = address;

  const types = [type, transport, transportType].filter((value) => value !== undefined).map(typeOf);
  if (types.includes(undefined)) {
    const field = type === undefined ? "transport" : "type";
    problems.push({ field, message: 'is not known; write "stdio", "http" or "sse"' });
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
