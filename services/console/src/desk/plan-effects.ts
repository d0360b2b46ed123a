/** What a plan will do to the world, before it is executed. Pure; the plan may be half written. */
import { countText, isJsonObject, numberText } from "@planwright/plan";
import { isObject, toolOf } from "./draft-steps.ts";

/** A tool as the catalogue declares it. */
interface DeclaredTool {
  name: string;
  /** Its contract, as the API gives it. */
  contract: unknown;
}

/** The calls of one tool that change something. */
export interface ToolEffect {
  tool: string;
  /** Most calls that are known in advance. */
  calls: number;
  /** Lists whose number of entries is known only later: the steps that call the tool for each entry. */
  lists: readonly string[];
}

/** What a plan will do. */
export interface PlanEffects {
  effects: readonly ToolEffect[];
  /** Steps that ask for an approval first. */
  approvals: number;
  /** Steps that change nothing. */
  reads: number;
}

/**
 * The effects of a plan document.
 * @param kept - steps that are carried over, which are not called
 */
export function effectsOf(
  document: unknown,
  tools: readonly DeclaredTool[],
  kept: ReadonlySet<string> = new Set(),
): PlanEffects {
  const contracts = new Map(tools.map(({ name, contract }) => [name, contract]));
  const effects = new Map<string, { tool: string; calls: number; lists: string[] }>();
  let [approvals, reads] = [0, 0];
  const steps = isObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  for (const step of steps.filter(isObject)) {
    const tool = toolOf(step);
    if (tool === "" || kept.has(String(step["id"]))) continue;
    if (step["approval"] === true) approvals += 1;
    if (!changesSomething(contracts.get(tool))) {
      reads += 1;
      continue;
    }
    const effect = effects.get(tool) ?? { tool, calls: 0, lists: [] };
    effects.set(tool, effect);
    const { forEach } = step;
    if (!isObject(forEach)) effect.calls += 1;
    else if (Array.isArray(forEach["items"])) effect.calls += forEach["items"].length;
    else effect.lists.push(String(step["id"]));
  }
  return { effects: [...effects.values()], approvals, reads };
}

/** A tool without a known contract is expected to change something. */
function changesSomething(contract: unknown): boolean {
  return !(
    isJsonObject(contract) &&
    (contract["side_effects"] === false || contract["sideEffects"] === false)
  );
}

/** The effects in sentences: "Calls with effects: sendMail up to 12 times. 1 approval is asked for first." */
export function effectsText({ effects, approvals, reads }: PlanEffects): string {
  const calls = effects.map(({ tool, calls: count, lists }) => {
    const each = lists.length > 0 ? `once for each entry of ${lists.join(", ")}` : "";
    return `${tool} ${[timesText(count), each].filter(Boolean).join(" and ")}`;
  });
  const sentences = [
    calls.length > 0
      ? `Calls with effects: ${calls.join("; ")}.`
      : reads > 0 && "Nothing is changed: its calls only read.",
    approvals > 0 && `${countText(approvals, "approval")} ${approvals === 1 ? "is" : "are"} asked for first.`,
    calls.length > 0 &&
      reads > 0 &&
      `${countText(reads, "other step")} only ${reads === 1 ? "reads" : "read"}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

function timesText(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "once" : `up to ${numberText(count)} times`;
}
