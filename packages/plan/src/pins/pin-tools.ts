/**
 * What a stored plan remembers of the tools it was made with: which tools they are, and what they declared.
 * The names in a catalogue depend on its other tools (`search` becomes `x/search` once another server offers
 * one), and declarations may change; a pin keeps both as they were.
 */
import { knownContract } from "../contract/tool-contract.ts";
import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import { canonicalDigest } from "../json/digest.ts";
import { bareName, findServerTool, findTool } from "../tools/name-tools.ts";
import { remembered } from "../tools/remembered.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type ToolIndex, toolIndexOf } from "../tools/tool-index.ts";
import { toolDigest } from "./tool-digest.ts";

/** Parts of a tool's declarations; together they are all of them. */
export const TOOL_PARTS = ["description", "inputSchema", "outputSchema", "annotations", "contract"] as const;
export type ToolPart = (typeof TOOL_PARTS)[number];

/** Which tool it was, and what it declared. */
export interface ToolFingerprint {
  /** The server that offers it; null for a tool without one. */
  server: string | null;
  /** The server's own name for it. */
  name: string;
  /** Digest of all its declarations: {@link toolDigest}. */
  digest: string;
  /** The first 16 digits of a digest of each part, which tell what has changed. */
  parts: { [part in ToolPart]: string };
}

/** A tool as it was when a plan was made. */
export interface ToolPin extends ToolFingerprint {
  /** Its name in the plan. */
  tool: string;
  /** The tool that tells the outcome of its calls, by its contract then. Absent: there was none. */
  lookup?: ToolFingerprint | undefined;
  /**
   * By its contract then, the operator's configuration included: nothing runs beside it. For reports;
   * execution uses the current contract.
   */
  barrier?: true | undefined;
}

/**
 * Pins the tools of a plan, each once, in the order of their first steps. A tool that is not in the catalogue
 * keeps its earlier pin, or gets none.
 * @param tools - the catalogue that the plan was checked against, which must not change: its digests are
 * computed once
 * @param earlier - pins of an earlier version of the plan: its tools stay those of the same servers
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
 * The tool that a stored plan means by a name: the pinned one, even if it is called otherwise now; without a
 * pin the tool that has the name now.
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
  if (toolDigest(tool) === then.digest) return [];
  const parts = partDigests(tool);
  return TOOL_PARTS.filter((part) => parts[part] !== then.parts[part]);
}

/** True for changes that may change the meaning of a call: all except those of the description alone. */
export function isMaterialChange(changes: readonly ToolPart[]): boolean {
  return changes.some((part) => part !== "description");
}

/** The fingerprint of a tool as it is now, to compare with later. */
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
  const asked = lookup && index.findRelated(tool, lookup.tool);
  return {
    tool: name,
    ...knownFingerprint(tool),
    ...(asked ? { lookup: knownFingerprint(asked) } : {}),
    ...(barrier ? { barrier: true } : {}),
  };
}

function partDigests(tool: ToolDescriptor): ToolPin["parts"] {
  const { name: _name, server: _server, trusted: _trusted, override: _override, ...rest } = tool;
  const { observedOutput: _observedOutput, ...own } = rest;
  const { title, description, inputSchema, outputSchema, annotations, ...contract } = own;
  return {
    description: shortDigest({ title, description }),
    inputSchema: shortDigest(inputSchema),
    outputSchema: shortDigest(outputSchema),
    annotations: shortDigest(annotations),
    contract: shortDigest(contract),
  };
}

function shortDigest(value: unknown): string {
  return canonicalDigest(value).slice(0, 16);
}
