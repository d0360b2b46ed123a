import { isJsonObject, type JsonObject, type JsonValue, markNumbers } from "@planwright/plan";
import { readableError, type TraceOf, takeAnswer } from "./call-trace.ts";
import { UnreadableAnswerError } from "./errors.ts";

/** Ids with which servers answer a request that they could not read. */
const ID_OF_NONE: readonly unknown[] = [undefined, null, "", "server-error"];
/** Fields of results in which null means that there is none. Other fields are data of the tool. */
const RESULT_FIELDS = [
  "nextCursor",
  "_meta",
  "isError",
  "structuredContent",
  "instructions",
  "resultType",
  "ttlMs",
  "cacheScope",
];
/** Deepest nesting of a message: twice what a tool or an output may have. */
const MAX_LEVELS = 128;
/** Blocks of content with known fields; of others only the fields of all blocks are known. */
const BLOCK_TYPES: readonly unknown[] = ["text", "image", "audio", "resource", "resource_link"];

/** What is known about a text. */
interface Reading {
  /** Finds the calls in progress. */
  traceOf: TraceOf;
  /** The only request that these messages can answer, if there is only one. */
  requestId?: string | number | undefined;
  /**
   * True where all requests share a stream: JSON of a logger may stand in it, which is no answer, and an error
   * without an id may be about a notification instead of that request. Default: false.
   */
  isShared?: boolean;
}

/** The messages of a text, and whether they differ from what the text says. */
export interface WireMessages {
  messages: JsonObject[];
  /** False for one message that is as the protocol asks: its text can be used as it is. */
  isMended: boolean;
}

/**
 * Reads what a server sent: one JSON-RPC message, or a list of them. The only place where messages are
 * parsed, for HTTP and stdio, before the SDK validates them. They are read by their meaning: null is absent
 * wherever the protocol allows a field to be absent (a null list has no entries, a null result is an empty
 * one); `error: null` beside a result, `result: null` beside an error, other unknown fields and a missing
 * `jsonrpc` are ignored; what is nested deeper than 128 levels is null; an error may be a text, or lack its code; a result without an id, or with null,
 * belongs to the request that waits. Numbers that a double would change are exact numbers. The answer of a call
 * goes to its trace as it came ({@link takeAnswer}).
 * @throws {UnreadableAnswerError} for a text that is not JSON, or holds something that is not a message
 */
export function readMessages(text: string, reading: Reading): WireMessages {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  // The SDK would read these numbers as doubles.
  const marked = markNumbers(plain);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch (error) {
    throw new UnreadableAnswerError(reasonOf(text), text, error);
  }
  const isCut = cutLevels(value, MAX_LEVELS);
  const all: unknown[] = Array.isArray(value) ? value : [value];
  const read = all.flatMap((raw) => (isJsonObject(raw) ? (messageOf(raw, reading) ?? []) : []));
  if (read.length === 0) throw new UnreadableAnswerError("is not a JSON-RPC message", text);
  const isMended =
    isCut || Array.isArray(value) || marked !== plain || read.some((message) => message.isMended);
  return { messages: read.map(({ message }) => message), isMended };
}

/**
 * Replaces what is nested deeper by null, in place. The SDK and the code after it walk messages recursively,
 * and a stack that overflows there loses the whole message: its other tools, or that the tool has answered. A
 * tool or an output that was cut is refused later, by name, because both may have fewer levels than this.
 * @returns true when something was cut
 */
function cutLevels(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  let isCut = false;
  const cut = (key: string | number, inner: unknown): void => {
    if (typeof inner !== "object" || inner === null) return;
    if (levels > 1) isCut = cutLevels(inner, levels - 1) || isCut;
    else isCut = Reflect.set(value, key, null);
  };
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) cut(index, value[index]);
  else for (const key of Object.keys(value)) cut(key, Reflect.get(value, key));
  return isCut;
}

/** What is wrong with a text that is not JSON, in words that help to find it in the server. */
function reasonOf(text: string): string {
  const head = text.trimStart();
  if (head === "") return "is empty";
  if (/^<(?:!doctype|html|\?xml)/i.test(head)) return "is a web page, not JSON";
  const word = /[[:,]\s?(NaN|-?Infinity|None|True|False|undefined)\b/.exec(text.slice(0, 65_536))?.[1];
  return word === undefined ? "is not JSON" : `is not JSON (${word})`;
}

/**
 * The request that waits for an unreadable text which looks like a message: the one whose id stands at its
 * beginning or end, or without an id the only one; undefined for other output, such as a log line.
 */
export function requestOfUnreadable(
  text: string,
  waiting: Iterable<string | number>,
): string | number | undefined {
  const head = text.slice(0, 200);
  if (!/^\s*\{/.test(head) || (!head.includes('"jsonrpc"') && !text.slice(-200).includes('"jsonrpc"')))
    return undefined;
  const own =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?([^",}\s]{1,100})"?\s*[,}]/.exec(head)?.[1] ??
    /"id"\s{0,9}:\s{0,9}"?([^",}\s]{1,100})"?\s{0,9}(?:,\s{0,9}"jsonrpc"\s{0,9}:\s{0,9}"2\.0"\s{0,9})?\}\s{0,9}$/.exec(
      text.slice(-200),
    )?.[1];
  const ids = [...waiting];
  if (own !== undefined) return ids.find((id) => String(id) === own);
  return /"result"\s{0,9}:/.test(text.slice(0, 65_536)) && ids.length === 1 ? ids[0] : undefined;
}

/** One message as the protocol asks; undefined for an object that is no message. */
function messageOf(
  raw: JsonObject,
  { traceOf, requestId, isShared = false }: Reading,
): { message: JsonObject; isMended: boolean } | undefined {
  const { id, method, params, error, result } = raw;
  const base = { jsonrpc: "2.0" };
  if (isShared && raw["jsonrpc"] === undefined && !isBareAnswer(raw)) return undefined;
  if (typeof method === "string") {
    const message = {
      ...base,
      ...(id === undefined || id === null ? {} : { id }),
      method,
      ...(params === undefined || params === null ? {} : { params }),
    };
    // The data of a log message may be null; every other field of a notification may only be absent.
    const isMended = isJsonObject(params) && dropNulls(params, (field) => field !== "data");
    return { message, isMended: isMended || hasOtherFields(raw, message) };
  }
  const isError = !isNothing(error) && (isNothing(result) || !isEmpty(error));
  const ownId = ID_OF_NONE.includes(id) && !(isShared && isError) ? (requestId ?? id) : id;
  const answer = { ...base, ...(ownId === undefined ? {} : { id: ownId }) };
  const whole: JsonObject = { ...raw, ...answer };
  if (!isError) delete whole["error"];
  const taken = takeAnswer(whole, traceOf);
  if (taken !== whole && isJsonObject(taken)) return { message: taken, isMended: true };
  if (isError) {
    const message = { ...answer, error: readableError(error) };
    return { message, isMended: true };
  }
  if (result === undefined && error === undefined) return undefined;
  const message = { ...answer, result: result ?? {} };
  const isMended = isJsonObject(message.result) && mendResult(message.result);
  return { message, isMended: isMended || result === null || hasOtherFields(raw, message) };
}

const isNothing = (value: JsonValue | undefined): value is null | undefined =>
  value === undefined || value === null;

/** What servers write beside a result for no error. */
function isEmpty(error: JsonValue): boolean {
  return error === "" || error === false || (isJsonObject(error) && Object.keys(error).length === 0);
}

/** An answer that lacks nothing but its version. */
function isBareAnswer(raw: JsonObject): boolean {
  const isKnown = Object.keys(raw).every(
    (field) => field === "id" || field === "result" || field === "error",
  );
  return isKnown && !ID_OF_NONE.includes(raw["id"]) && Object.keys(raw).length > 1;
}

/** True when the message has other top-level fields or values than the raw one. */
function hasOtherFields(raw: JsonObject, message: JsonObject): boolean {
  const keys = Object.keys(raw);
  return (
    keys.length !== Object.keys(message).length ||
    raw["jsonrpc"] !== message["jsonrpc"] ||
    raw["id"] !== message["id"]
  );
}

/** Makes the fields of a result as the protocol asks. @returns true when something was changed */
function mendResult(result: JsonObject): boolean {
  let isMended = dropNulls(result, (field) => RESULT_FIELDS.includes(field));
  for (const list of ["tools", "content"]) {
    // Go servers write null for a list without entries.
    if (result[list] === null) {
      result[list] = [];
      isMended = true;
    }
  }
  for (const tool of objectsIn(result["tools"])) {
    if (dropNulls(tool, (field) => field !== "inputSchema" && field !== "name")) isMended = true;
    if (isJsonObject(tool["annotations"]) && dropNulls(tool["annotations"])) isMended = true;
  }
  for (const block of objectsIn(result["content"])) {
    const isKnown = BLOCK_TYPES.includes(block["type"]);
    if (dropNulls(block, (field) => isKnown || field === "annotations" || field === "_meta")) isMended = true;
    for (const part of [block["annotations"], isKnown ? block["resource"] : undefined]) {
      if (isJsonObject(part) && dropNulls(part)) isMended = true;
    }
  }
  return ("protocolVersion" in result && mendHandshake(result)) || isMended;
}

/** The answer to `initialize`: what a server does not say about itself is empty. */
function mendHandshake(result: JsonObject): boolean {
  const { capabilities, serverInfo } = result;
  let isMended = false;
  if (isJsonObject(capabilities)) {
    if (dropNulls(capabilities)) isMended = true;
    for (const capability of Object.values(capabilities)) {
      if (isJsonObject(capability) && dropNulls(capability)) isMended = true;
    }
  } else if (capabilities === undefined || capabilities === null) {
    result["capabilities"] = {};
    isMended = true;
  }
  const info = isJsonObject(serverInfo) ? serverInfo : {};
  if (dropNulls(info) || info !== serverInfo) isMended = true;
  for (const field of ["name", "version"]) {
    if (typeof info[field] === "string") continue;
    info[field] = "";
    isMended = true;
  }
  result["serverInfo"] = info;
  return isMended;
}

/** Removes fields that are null. @returns true when there was one */
function dropNulls(object: JsonObject, isField: (field: string) => boolean = () => true): boolean {
  let isChanged = false;
  for (const [field, value] of Object.entries(object)) {
    if (value !== null || !isField(field)) continue;
    delete object[field];
    isChanged = true;
  }
  return isChanged;
}

function objectsIn(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
