/**
 * The tools of one claimed plan: the tools that it was made with, under their current names in the catalogue,
 * and why some of them must not be called. This is decided at the claim, and again at each call by the
 * current list of the server. Digests are computed once for each descriptor object.
 */
import type { StepError } from "@planwright/engine";
import {
  bareName,
  catalogueOfPlan,
  changesSince,
  createToolIndex,
  fingerprintOf,
  isMaterialChange,
  knownContract,
  pinsByTool,
  type ToolDescriptor,
  type ToolFingerprint,
  type ToolPart,
  type ToolPin,
  toolIndexOf,
  toolOfStep,
} from "@planwright/plan";
import type { PlanClaim } from "@planwright/store";

/** A tool whose descriptor differs from the one that the plan was made with. */
interface ChangedTool {
  /** Its name in the plan. */
  tool: string;
  changes: readonly ToolPart[];
}

/** A call that is about to be sent. */
interface JudgedCall {
  /** The plan's name of the tool. */
  tool: string;
  /** It asks about an earlier call of that tool. */
  isLookup: boolean;
  /** It contains secrets. */
  sendsSecrets: boolean;
}

/** Whether a call may be sent to the current tool. */
interface ToolVerdict {
  changes: readonly ToolPart[];
  /** Why the call may not be sent. */
  refusal?: StepError;
  /** A warning for the step of a call that may be sent. */
  warning?: string;
}

/** The tools that a plan calls, and their names. */
export interface PlanTools {
  /** The catalogue as the plan knows it: see `catalogueOfPlan`. */
  readonly catalogue: readonly ToolDescriptor[];
  /** Tools that must not be called, and why, by the plan's names. */
  readonly refusals: ReadonlyMap<string, StepError>;
  readonly changed: readonly ChangedTool[];
  /** True when every tool exists and is unchanged. */
  readonly isAsPlanned: boolean;
  /** The plan's names of tools that are not in the catalogue. */
  readonly missing: readonly string[];
  /**
   * Compares the tool of a call, as its server lists it now, with the tool that the plan was made with (for a
   * plan without pins: claimed with).
   */
  judge(call: JudgedCall, offered: ToolDescriptor): ToolVerdict;
  /** The tool that the plan, or the contract of `by`, means by a name. */
  find(name: string, by?: ToolDescriptor): ToolDescriptor | undefined;
  /** The server, and the name of the tool there, even if other servers offer the same name. */
  addressOf(name: string, by?: ToolDescriptor): { tool: string; server?: string | undefined };
  /** The tool that is asked whether a call of a tool was made; undefined when its contract names none that is known. */
  lookupOf(name: string): ToolDescriptor | undefined;
}

/**
 * The tools of a plan.
 * @param published - the catalogue; plans that are compared with the same reading get the same array
 */
export function createPlanTools(
  { plan: { plan, toolPins } }: { plan: Pick<PlanClaim["plan"], "plan" | "toolPins"> },
  published: readonly ToolDescriptor[],
): PlanTools {
  const pins = pinsByTool(toolPins);
  const index = toolIndexOf(published);
  const catalogue = catalogueOfPlan(plan, index, pins);
  const planIndex = catalogue === published ? index : createToolIndex(catalogue);
  const refusals = new Map<string, StepError>();
  const changed: ChangedTool[] = [];
  const missing: string[] = [];
  const continues = plan.policy.onToolChanged === "continue";
  for (const name of new Set(plan.steps.map(toolOfStep))) {
    const pin = pins.get(name);
    const tool = index.findPinned(name, pin);
    if (!tool) {
      missing.push(name);
      refusals.set(name, notFound(name, pin, published));
      continue;
    }
    const changes = pin ? changesOf(pin, tool) : [];
    if (changes.length === 0) continue;
    changed.push({ tool: name, changes });
    if (!continues && isMaterialChange(changes)) refusals.set(name, toolChanged(tool, changes));
  }
  const find = (name: string, by?: ToolDescriptor) =>
    by ? planIndex.findRelated(by, name) : planIndex.find(name);
  /** Fingerprints of tools without a pin, taken at the claim. */
  const atClaim = new Map<string, ToolFingerprint>();

  function asPlanned({ tool: name, isLookup }: JudgedCall, offered: ToolDescriptor): ToolFingerprint {
    const pin = pins.get(name);
    const pinned = isLookup ? pin?.lookup : pin;
    if (pinned?.server === (offered.server ?? null) && pinned.name === bareName(offered)) return pinned;
    const key = `${name}${isLookup ? " lookup" : ""}`;
    const known = atClaim.get(key) ?? fingerprintOf((isLookup ? lookupOf(name) : find(name)) ?? offered);
    atClaim.set(key, known);
    return known;
  }

  function lookupOf(name: string): ToolDescriptor | undefined {
    const tool = find(name);
    const lookup = tool && knownContract(tool).contract.lookup;
    return lookup && find(lookup.tool, tool);
  }

  return {
    catalogue,
    refusals,
    changed,
    isAsPlanned: refusals.size === 0 && changed.length === 0,
    missing,
    find,
    lookupOf,
    judge(call, offered) {
      const changes = changesOf(asPlanned(call, offered), offered);
      if (changes.length === 0) return { changes };
      // Texts of schemas may contain the time of the listing, so they do not hold a secret back.
      const isForSecrets = call.sendsSecrets && changes.some((part) => part !== "texts");
      if (!continues && (isForSecrets || isMaterialChange(changes)))
        return { changes, refusal: toolChanged(offered, changes, call.sendsSecrets) };
      return { changes, warning: calledAnyway(offered, changes, continues) };
    },
    addressOf(name, by) {
      const tool = find(name, by);
      return tool?.server === undefined ? { tool: name } : { tool: bareName(tool), server: tool.server };
    },
  };
}

/** Changes by pinned digest, for each descriptor object: plans that use the same tools share them. */
const changesByDigest = new WeakMap<ToolDescriptor, Map<string, readonly ToolPart[]>>();
/** Most pinned digests of one tool that are cached; old plans may have any number of them. */
const MAX_DIGESTS = 100;

function changesOf(pin: ToolFingerprint, tool: ToolDescriptor): readonly ToolPart[] {
  const known = changesByDigest.get(tool) ?? new Map<string, readonly ToolPart[]>();
  changesByDigest.set(tool, known);
  // A digest does not cover the texts.
  const key = `${pin.digest} ${pin.parts.texts ?? ""}`;
  const changes = known.get(key) ?? changesSince(pin, tool);
  if (known.size < MAX_DIGESTS) known.set(key, changes);
  return changes;
}

const WORDS: { readonly [part in ToolPart]: string } = {
  description: "description",
  inputSchema: "input schema",
  outputSchema: "output schema",
  annotations: "annotations",
  contract: "contract or other metadata",
  texts: "texts or default values of its schemas",
};

function toolChanged(tool: ToolDescriptor, changes: readonly ToolPart[], sendsSecrets = false): StepError {
  const why = sendsSecrets && !isMaterialChange(changes) ? ", and the call would send secrets to it" : "";
  const message = `${whatChanged(tool, changes)}${why}, so nothing was sent. Rerun the plan with the current tool, or plan it again`;
  return { code: "TOOL_CHANGED", message, retryable: false };
}

function calledAnyway(tool: ToolDescriptor, changes: readonly ToolPart[], continues: boolean): string {
  const why = continues ? "because of the plan's policy" : "because its contract and schemas are unchanged";
  return `${whatChanged(tool, changes)}; it was called anyway, ${why}`;
}

function whatChanged(tool: ToolDescriptor, changes: readonly ToolPart[]): string {
  const where = tool.server === undefined ? "" : ` of server ${tool.server}`;
  const what = changes.map((part) => WORDS[part]).join(", ");
  return `Tool ${bareName(tool)}${where} has changed since the plan was made (${what})`;
}

function notFound(name: string, pin: ToolPin | undefined, published: readonly ToolDescriptor[]): StepError {
  const offers = published.filter((tool) => bareName(tool) === name).map((tool) => tool.name);
  const message = pin?.server
    ? `Tool ${pin.name} of server ${pin.server} is no longer known`
    : offers.length > 1
      ? `Several servers now offer ${name}: ${offers.slice(0, 10).join(", ")}. Submit the plan again with one of these names`
      : `Tool ${name} is not known`;
  return { code: "TOOL_NOT_FOUND", message, retryable: false };
}
