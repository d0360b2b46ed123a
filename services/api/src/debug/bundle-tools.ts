import {
  changesSince,
  findPinnedTool,
  type ToolDescriptor,
  type ToolPin,
  toolDigest,
} from "@planwright/plan";
import type { PlanGraph, PlanHead } from "@planwright/store";

/** A pinned tool of a plan, and the current tool. */
export interface BundledTool {
  pin: ToolPin;
  /** Versions of the plan with this pin. */
  versions: number[];
  /** Null for a tool that no longer exists. */
  digestNow: string | null;
  /** What changed since it was pinned; empty when the descriptor is unchanged. */
  changedSince: string[];
  descriptorNow: ToolDescriptor | null;
}

/** Every pinned tool of the plans; each digest occurs once. Pure; a step for each tool. */
export function* bundleTools(
  plans: readonly (Pick<PlanHead, "version"> & Pick<PlanGraph, "toolPins">)[],
  catalogue: readonly ToolDescriptor[],
): Generator<void, BundledTool[]> {
  const found = new Map<string, BundledTool>();
  for (const { version, toolPins = [] } of plans) {
    for (const pin of toolPins) {
      const key = `${pin.server ?? ""}/${pin.name}@${pin.digest}`;
      const known = found.get(key);
      if (known) known.versions.push(version);
      else {
        found.set(key, { ...currentTool(pin, catalogue), versions: [version] });
        yield;
      }
    }
  }
  return [...found.values()];
}

function currentTool(pin: ToolPin, catalogue: readonly ToolDescriptor[]): Omit<BundledTool, "versions"> {
  const tool = findPinnedTool(catalogue, pin.tool, pin);
  if (!tool) return { pin, digestNow: null, changedSince: [], descriptorNow: null };
  return { pin, digestNow: toolDigest(tool), changedSince: changesSince(pin, tool), descriptorNow: tool };
}
