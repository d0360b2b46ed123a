/**
 * The tools of one claimed plan: those that it was made with, however the catalogue calls them by now, and why some of them must
 * not be called. Decided once a claim, from digests that are computed once for each descriptor a catalogue holds.
 */
import type { StepError } from "@planwright/engine";
import {
  bareName,
  catalogueOfPlan,
  changesSince,
  createToolIndex,
  pinsByTool,
  type ToolDescriptor,
  type ToolIndex,
  type ToolPart,
  type ToolPin,
  toolOfStep,
} from "@planwright/plan";
import type { PlanClaim } from "@planwright/store";

/** A tool that says otherwise of itself than when the plan was made. */
export interface ChangedTool {
  /** Its name in the plan. */
  tool: string;
  changes: readonly ToolPart[];
}

/** What a plan calls, and by which names. */
export interface PlanTools {
  /** The catalogue as the plan knows it: see `catalogueOfPlan`. */
  readonly catalogue: readonly ToolDescriptor[];
  /** Tools that must not be called, by the plan's names, and why. */
  readonly refusals: ReadonlyMap<string, StepError>;
  readonly changed: readonly ChangedTool[];
  /** True when every tool is there and as it was. */
  readonly isAsPlanned: boolean;
  /** The tool that the plan, or the contract of `by`, means by a name. */
  find(name: string, by?: ToolDescriptor): ToolDescriptor | undefined;
  /** Whom to call: a server and its own name for the tool, whatever other servers offer. */
  addressOf(name: string, by?: ToolDescriptor): { tool: string; server?: string | undefined };
}

/** The tools of a plan, by a catalogue as it was read: the same array for plans that are judged by the same reading. */
export function createPlanTools(
  { plan: { plan, toolPins } }: { plan: Pick<PlanClaim["plan"], "plan" | "toolPins"> },
  published: readonly ToolDescriptor[],
): PlanTools {
  const pins = pinsByTool(toolPins);
  const index = indexOf(published);
  const catalogue = catalogueOfPlan(plan, index, pins);
  const own = catalogue === published ? index : createToolIndex(catalogue);
  const refusals = new Map<string, StepError>();
  const changed: ChangedTool[] = [];
  for (const name of new Set(plan.steps.map(toolOfStep))) {
    const pin = pins.get(name);
    const tool = index.findPinned(name, pin);
    if (!tool) refusals.set(name, notFound(name, pin, published));
    const changes = tool && pin ? changesOf(pin, tool) : [];
    if (changes.length === 0) continue;
    changed.push({ tool: name, changes });
    if (plan.policy.onToolChanged !== "continue") refusals.set(name, toolChanged(name, changes));
  }
  const find = (name: string, by?: ToolDescriptor) => (by ? own.findRelated(by, name) : own.find(name));
  return {
    catalogue,
    refusals,
    changed,
    isAsPlanned: refusals.size === 0 && changed.length === 0,
    find,
    addressOf(name, by) {
      const tool = find(name, by);
      return tool?.server === undefined ? { tool: name } : { tool: bareName(tool), server: tool.server };
    },
  };
}

const indexes = new WeakMap<readonly ToolDescriptor[], ToolIndex>();

function indexOf(catalogue: readonly ToolDescriptor[]): ToolIndex {
  const known = indexes.get(catalogue) ?? createToolIndex(catalogue);
  indexes.set(catalogue, known);
  return known;
}

/** Changes by pinned digest, for each descriptor as it was read: plans that use the same tools share them. */
const changesByDigest = new WeakMap<ToolDescriptor, Map<string, readonly ToolPart[]>>();
/** Pinned digests of one tool that are remembered; old plans may hold any number of them. */
const MAX_DIGESTS = 100;

function changesOf(pin: ToolPin, tool: ToolDescriptor): readonly ToolPart[] {
  const known = changesByDigest.get(tool) ?? new Map<string, readonly ToolPart[]>();
  changesByDigest.set(tool, known);
  const changes = known.get(pin.digest) ?? changesSince(pin, tool);
  if (known.size < MAX_DIGESTS) known.set(pin.digest, changes);
  return changes;
}

const WORDS: { readonly [part in ToolPart]: string } = {
  description: "description",
  inputSchema: "input schema",
  outputSchema: "output schema",
  annotations: "annotations",
  contract: "contract or other metadata",
};

function toolChanged(name: string, changes: readonly ToolPart[]): StepError {
  const what = changes.map((part) => WORDS[part]).join(", ");
  const message = `Tool ${name} has changed since the plan was made (${what}), so it is not called. Rerun the plan with the tool as it is now, or plan it again`;
  return { code: "TOOL_CHANGED", message, retryable: false };
}

function notFound(name: string, pin: ToolPin | undefined, published: readonly ToolDescriptor[]): StepError {
  const offers = published.filter((tool) => bareName(tool) === name).map((tool) => tool.name);
  const message = pin?.server
    ? `Tool ${pin.name} of server ${pin.server} is not known any more`
    : offers.length > 1
      ? `Several servers offer ${name} by now: ${offers.slice(0, 10).join(", ")}. Submit the plan again with one of these names`
      : `Tool ${name} is not known`;
  return { code: "TOOL_NOT_FOUND", message, retryable: false };
}
