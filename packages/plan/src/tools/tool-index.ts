import { bareName, qualifiedName } from "./name-tools.ts";
import { remembered } from "./remembered.ts";
import { readTool, type ToolDescriptor } from "./tool-descriptor.ts";

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
