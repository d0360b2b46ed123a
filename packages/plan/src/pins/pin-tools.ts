/**
 * What a stored plan keeps about the tools for which it was made: their identity and their declarations. The
 * names in a catalogue depend on its other tools (`search` becomes `x/search` once another server offers
 * one), and declarations may change; a pin keeps both.
 */
import { knownContract } from "../contract/tool-contract.ts";
import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import { canonicalDigest } from "../json/digest.ts";
import { bareName, findServerTool, findTool } from "../tools/name-tools.ts";
import { remembered } from "../tools/remembered.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type ToolIndex, toolIndexOf } from "../tools/tool-index.ts";
import { declarations, type ToolMeaning, toolDigest, toolMeaning } from "./tool-digest.ts";

/** The parts of a tool's declarations. */
export const TOOL_PARTS = [
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "contract",
  "texts",
] as const satisfies readonly (keyof ToolMeaning)[];
export type ToolPart = (typeof TOOL_PARTS)[number];

/** Identity and declarations of a tool. */
export interface ToolFingerprint {
  /** The server that offers it; null for a tool without one. */
  server: string | null;
  /** The server's name for it. */
  name: string;
  /** Digest of its declarations: {@link toolDigest}. */
  digest: string;
  /**
   * The first 16 digits of a digest of each part, to find which part has changed. Without `texts` the pin was
   * stored by an older version: all its digests are of the declarations as they were written.
   */
  parts: { [part in Exclude<ToolPart, "texts">]: string } & { texts?: string | undefined };
}

/** A tool as it was when a plan was made. */
export interface ToolPin extends ToolFingerprint {
  /** Its name in the plan. */
  tool: string;
  /** Its lookup tool, by its contract at that time. Absent: none. */
  lookup?: ToolFingerprint | undefined;
  /**
   * It was a barrier, by its contract and the operator's configuration at that time. For reports; execution
   * uses the current contract.
   */
  barrier?: true | undefined;
}

/**
 * Pins the tools of a plan, each once, in the order of their first steps. A tool that is not in the catalogue
 * keeps its earlier pin, or gets none.
 * @param tools - the catalogue that the plan was checked against, which must not change: its digests are
 *   computed once
 * @param earlier - pins of an earlier version of the plan: its tools stay on the same servers
 */
export function pinTools(
  plan: Pick<Plan, "steps">,
  tools: readonly ToolDescriptor[],
  earlier: readonly ToolPin[] = [],
): ToolPin[] {
  const before = new Map(earlier.map((pin) => [pin.tool, pin]));
  const index = toolIndexOf(tools);
  return [...new Set(plan.steps.map(toolOfStep))].flatMap((name) => {
    const pin = before.get(name);
    const tool = index.findPinned(name, pin);
    return tool ? [pinOf(name, tool, index)] : (pin ?? []);
  });
}

/**
 * The tool that a name in a stored plan means: the pinned one, even when its current name differs; without a
 * pin the tool with that name.
 */
export function findPinnedTool(
  tools: readonly ToolDescriptor[],
  name: string,
  pin: ToolPin | undefined,
): ToolDescriptor | undefined {
  return pin ? findServerTool(tools, pin.server ?? undefined, pin.name) : findTool(tools, name);
}

/** The parts of a tool that differ from its pin; empty for an unchanged tool. */
export function changesSince(then: ToolFingerprint, tool: ToolDescriptor): ToolPart[] {
  const now = then.parts.texts === undefined ? writtenParts(tool) : partDigests(tool);
  return TOOL_PARTS.filter((part) => now[part] !== then.parts[part]);
}

/** True for changes that may change the meaning of a call: all except those of texts. */
export function isMaterialChange(changes: readonly ToolPart[]): boolean {
  return changes.some((part) => part !== "description" && part !== "texts");
}

/** The fingerprint of the current tool, for later comparison. */
export function fingerprintOf(tool: ToolDescriptor): ToolFingerprint {
  return {
    server: tool.server ?? null,
    name: bareName(tool),
    digest: toolDigest(tool),
    parts: partDigests(tool),
  };
}

const knownFingerprint = remembered(fingerprintOf);

function pinOf(name: string, tool: ToolDescriptor, index: ToolIndex): ToolPin {
  const { barrier, lookup } = knownContract(tool).contract;
  const lookupTool = lookup && index.findRelated(tool, lookup.tool);
  return {
    tool: name,
    ...knownFingerprint(tool),
    ...(lookupTool ? { lookup: knownFingerprint(lookupTool) } : {}),
    ...(barrier ? { barrier: true } : {}),
  };
}

const partDigests = remembered((tool: ToolDescriptor): ToolFingerprint["parts"] => ({
  ...partsOf(toolMeaning(tool)),
  texts: shortDigest(toolMeaning(tool).texts),
}));

/** As older versions compared tools: by every character of their declarations. */
function writtenParts(tool: ToolDescriptor): ToolFingerprint["parts"] {
  const { title, description, ...written } = declarations(tool);
  return partsOf({ ...written, description: { title, description } });
}

function partsOf(meaning: Omit<ToolMeaning, "texts">): ToolFingerprint["parts"] {
  return {
    description: shortDigest(meaning.description),
    inputSchema: shortDigest(meaning.inputSchema),
    outputSchema: shortDigest(meaning.outputSchema),
    annotations: shortDigest(meaning.annotations),
    contract: shortDigest(meaning.contract),
  };
}

function shortDigest(value: unknown): string {
  return canonicalDigest(value).slice(0, 16);
}
