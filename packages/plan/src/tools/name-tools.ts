import type { LeftOutTool, ToolDescriptor } from "./tool-descriptor.ts";

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
