import { cut, type DiagnosticCollector } from "../document/diagnostic.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { OutputShape } from "./observe-output.ts";

/**
 * MCP tool annotations: hints, untrusted unless the server is trusted. `readOnlyHint` is believed of every
 * server that is not marked with `trusted: false`.
 */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/**
 * A tool as an MCP server lists it, with its origin. Further top-level fields are kept, because they may be
 * part of the contract (`sequential`, `dependsOn`, `parallel_safe`, `x-orchestration`, ...).
 */
export interface ToolDescriptor {
  /** Name in plans: the server's name, or `server/tool` when two servers offer the same name. */
  name: string;
  /** Name of the server in the configuration file. */
  server?: string | undefined;
  /**
   * Whether the operator trusts the server. True: its hints may also loosen the contract. False: none may.
   * Absent: only `readOnlyHint` may, for parallelism and repeats.
   */
  trusted?: boolean | undefined;
  /** The operator's configuration of the contract; overrides everything. */
  override?: JsonObject | undefined;
  title?: string | undefined;
  description?: string | undefined;
  /** JSON Schema of the arguments; absent means any object. */
  inputSchema?: JsonObject | undefined;
  /** JSON Schema of the structured output. */
  outputSchema?: JsonObject | undefined;
  /**
   * The shape of earlier outputs of the tool for one tenant: learned by executors, never declared by a
   * server, and not part of the tool's digest.
   */
  observedOutput?: OutputShape | undefined;
  annotations?: ToolAnnotations | undefined;
  _meta?: JsonObject | undefined;
  [field: string]: unknown;
}

/**
 * A tool in the form of MCP, from that form or from those of model providers: `{type: "function", function:
 * {name, description, parameters}}`, with fields of the contract at either level, `{name, parameters}` and
 * `{name, input_schema}`. The same object when it already has the form of MCP. Never throws.
 */
export function readTool<Tool extends ToolDescriptor>(tool: Tool): Tool {
  try {
    const wrapped = tool["function"];
    const whole = isJsonObject(wrapped) ? { ...tool, ...wrapped } : tool;
    const schema = [whole["parameters"], whole["input_schema"]].find(isJsonObject);
    return whole.inputSchema !== undefined || !schema ? whole : { ...whole, inputSchema: schema };
  } catch {
    // A descriptor whose getters or proxy throw: its readers handle that member by member.
    return tool;
  }
}

/** A tool that a server lists and that no plan can use. */
export interface LeftOutTool {
  server: string;
  /**
   * Its name on the server, without invisible characters and cut to 128; null when the entry of the list has no
   * name.
   */
  tool: string | null;
  /** Why, as a clause with its own subject: "it has no inputSchema". */
  reason: string;
}

/** Warns about each tool that a catalogue defines twice: the later definition counts. */
export function duplicateTools(tools: readonly ToolDescriptor[], diagnostics: DiagnosticCollector): void {
  const names = new Set<string>();
  const reported = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name) && !reported.has(name)) {
      reported.add(name);
      const message = `tool ${cut(name)} is defined twice; the later definition counts`;
      diagnostics.add("TOOL_DUPLICATE", {}, { message, severity: "warning" });
    }
    names.add(name);
  }
}

/**
 * A function that computes its result once for each object and caches it for the lifetime of the object.
 * Neither the objects nor the results may change.
 */
export function remembered<Subject extends object, Answer extends NonNullable<unknown>>(
  work: (subject: Subject) => Answer,
): (subject: Subject) => Answer {
  const known = new WeakMap<Subject, Answer>();
  return (subject) => {
    const found = known.get(subject);
    if (found !== undefined) return found;
    const answer = work(subject);
    known.set(subject, answer);
    return answer;
  };
}

/** The identity of a tool in a pin: its server (null without one), and the server's name for it. */
interface PinnedAs {
  server: string | null;
  name: string;
}

/** Look-ups in a catalogue in constant time. */
export interface ToolIndex {
  /** The tools, each as of `readTool`. */
  readonly tools: readonly ToolDescriptor[];
  /** As `findTool`. */
  find(name: string): ToolDescriptor | undefined;
  /** As `findServerTool`. */
  findOfServer(server: string | undefined, ownName: string): ToolDescriptor | undefined;
  /** As `findRelatedTool`. */
  findRelated(tool: ToolDescriptor, name: string): ToolDescriptor | undefined;
  /** As `findPinnedTool`. */
  findPinned(name: string, pin: PinnedAs | undefined): ToolDescriptor | undefined;
}

/**
 * Indexes a catalogue; later changes to the array have no effect. Of tools with the same name the later
 * definition counts.
 */
export function createToolIndex(given: readonly ToolDescriptor[]): ToolIndex {
  const read = given.map(readTool);
  const tools = read.every((tool, position) => tool === given[position]) ? given : read;
  const exact = new Map<string, ToolDescriptor>();
  const qualified = new Map<string, ToolDescriptor>();
  /** Null when several tools share the name. */
  const short = new Map<string, ToolDescriptor | null>();
  const own = new Map<string | undefined, Map<string, ToolDescriptor>>();
  for (const tool of tools) {
    const { name, server } = tool;
    const bare = bareName(tool);
    exact.set(name, tool);
    if (server !== undefined) qualified.set(qualifiedName(tool), tool);
    const isShared = short.has(bare) && short.get(bare)?.name !== name;
    short.set(bare, isShared ? null : tool);
    const ofServer = own.get(server) ?? new Map<string, ToolDescriptor>();
    own.set(server, ofServer);
    ofServer.set(bare, tool);
  }
  const find = (name: string) => exact.get(name) ?? qualified.get(name) ?? short.get(name) ?? undefined;
  const findOfServer = (server: string | undefined, ownName: string) => own.get(server)?.get(ownName);
  return {
    tools,
    find,
    findOfServer,
    findRelated: ({ server }, name) =>
      (server === undefined ? undefined : findOfServer(server, name)) ?? find(name),
    findPinned: (name, pin) => (pin ? findOfServer(pin.server ?? undefined, pin.name) : find(name)),
  };
}

/** The index of a catalogue: created once for an array, which must not change. */
export const toolIndexOf: (tools: readonly ToolDescriptor[]) => ToolIndex = remembered(createToolIndex);

/**
 * The tools, in order, with unique names. A name that several servers offer becomes `server/tool` for each of
 * them, and so does a name that contains a slash; characters of a server's name that plans do not allow
 * become `_`. A tool without a server keeps its name. A tool that one server lists twice is kept once: the
 * later definition, at the position of the first. Idempotent.
 */
export function nameTools(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  const offers = new Map<string, Set<string | undefined>>();
  for (const tool of tools) {
    const servers = offers.get(bareName(tool)) ?? new Set();
    offers.set(bareName(tool), servers.add(tool.server));
  }
  const named = new Map<string, ToolDescriptor>();
  const listed = new Map(tools.map((tool) => [listingOf(tool), tool]));
  for (const tool of listed.values()) {
    const bare = bareName(tool);
    const isShared = (offers.get(bare)?.size ?? 0) > 1;
    const name = freeName(isShared || bare.includes("/") ? qualifiedName(tool) : tool.name, tool, named);
    named.set(name, name === tool.name ? tool : { ...tool, name });
  }
  return [...named.values()];
}

function listingOf(tool: ToolDescriptor): string {
  return JSON.stringify([tool.server ?? null, bareName(tool)]);
}

/**
 * The tool that a plan means: the one with exactly this name (of two definitions the later); else the one
 * with this `server/tool`, even when its short name is unique; else the only one with this short name.
 * Undefined when there is none, or when several servers offer the short name.
 */
export function findTool(tools: readonly ToolDescriptor[], name: string): ToolDescriptor | undefined {
  const exact = tools.findLast((tool) => tool.name === name);
  if (exact) return exact;
  const qualified = tools.findLast((tool) => tool.server !== undefined && qualifiedName(tool) === name);
  if (qualified) return qualified;
  const offers = tools.filter((tool) => bareName(tool) === name);
  const last = offers.at(-1);
  return offers.every((tool) => tool.name === last?.name) ? last : undefined;
}

/**
 * The tool that a name in another tool's contract means: first a tool of the same server, else the result of
 * {@link findTool}. A server uses its own names for its tools.
 */
export function findRelatedTool(
  tools: readonly ToolDescriptor[],
  tool: ToolDescriptor,
  name: string,
): ToolDescriptor | undefined {
  return (
    (tool.server === undefined ? undefined : findServerTool(tools, tool.server, name)) ??
    findTool(tools, name)
  );
}

/** The tool of a server by the server's name for it, which may differ from the name in the catalogue. */
export function findServerTool(
  tools: readonly ToolDescriptor[],
  server: string | undefined,
  ownName: string,
): ToolDescriptor | undefined {
  return tools.findLast((tool) => tool.server === server && bareName(tool) === ownName);
}

/** The server's name for the tool. */
export function bareName(tool: ToolDescriptor): string {
  const prefix = prefixOf(tool);
  return prefix !== "" && tool.name.startsWith(prefix) ? tool.name.slice(prefix.length) : tool.name;
}

/** `server/tool`, regardless of whether another server offers a tool with that name. */
export function qualifiedName(tool: ToolDescriptor): string {
  return `${prefixOf(tool)}${bareName(tool)}`;
}

/** The left-out tool that a name means: the server's name for it, or `server/tool`. */
export function findLeftOut(leftOut: readonly LeftOutTool[], name: string): LeftOutTool | undefined {
  return leftOut.find(
    ({ server, tool }) => tool !== null && (tool === name || qualifiedName({ server, name: tool }) === name),
  );
}

/** The name of a tool in a plan without its server. */
export function shortName(tool: string): string {
  return tool.slice(tool.indexOf("/") + 1);
}

function prefixOf({ server }: ToolDescriptor): string {
  return server === undefined ? "" : `${server.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 128)}/`;
}

/** The name with a number when two servers still clash (`a b` and `a_b`). */
function freeName(wanted: string, tool: ToolDescriptor, named: ReadonlyMap<string, ToolDescriptor>): string {
  if (!named.has(wanted)) return wanted;
  const qualified = qualifiedName(tool);
  if (!named.has(qualified)) return qualified;
  let number = 2;
  while (named.has(`${qualified}-${number}`)) number += 1;
  return `${qualified}-${number}`;
}
