/** A plan that is being written, which may be half written: its steps, those that stay, and what it will do. Pure. */
import { countText, isJsonObject, nameSteps, numberText, parseExactJson } from "@planwright/plan";
import { jsonrepair } from "jsonrepair";

/** The readable part of a step in a plan that is being written. */
export interface DeskStep {
  id: string;
  /** Empty while the text has no tool. */
  tool: string;
  isList: boolean;
  dependsOn: string[];
}

/** Step ids in references: `<<id.path>>`, `{{id.path}}`, `$ref:id.path`. */
const REFERENCE = /(?:<<|\{\{|\$ref:)\s*([A-Za-z][\w-]*)/gu;

/**
 * The steps of a plan document with their dependencies: those in `dependsOn`, and those that references name.
 * A step without an id and a second step with the same id are left out.
 */
export function draftSteps(document: unknown): DeskStep[] {
  const steps = isObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  const byId = new Map<string, Record<string, unknown>>();
  for (const step of steps) {
    const id = isObject(step) ? step["id"] : undefined;
    if (typeof id === "string" && id !== "" && !byId.has(id)) byId.set(id, step);
  }
  return [...byId].map(([id, step]) => ({
    id,
    tool: toolOf(step),
    isList: "forEach" in step,
    dependsOn: dependenciesOf(step).filter((name) => name !== id && byId.has(name)),
  }));
}

/** The tool that a step, or each item of a list, calls; empty while the text has no tool. */
export function toolOf(step: unknown): string {
  if (!isObject(step)) return "";
  const { tool, forEach } = step;
  if (typeof tool === "string") return tool;
  return isObject(forEach) ? toolOf(forEach["do"]) : "";
}

function dependenciesOf({ dependsOn, ...rest }: Record<string, unknown>): string[] {
  const named = Array.isArray(dependsOn) ? dependsOn.filter((name) => typeof name === "string") : [];
  const referred = [...JSON.stringify(rest).matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
  return [...new Set([...named, ...referred])];
}

/** A JSON object whose fields are not known. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** True for a JSON object, not for a list. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Ids of steps that a new version would carry over: completed in the old version, and unchanged together with
 * all their dependencies. The API decides; this is a preview for users before they send.
 * @param completed - ids of steps that completed in the old version
 */
export function keptSteps(older: unknown, newer: unknown, completed: ReadonlySet<string>): Set<string> {
  const before = textsById(older);
  const now = textsById(newer);
  const waitsFor = new Map(draftSteps(newer).map(({ id, dependsOn }) => [id, dependsOn]));
  const verdicts = new Map<string, boolean>();
  function isKept(id: string): boolean {
    const known = verdicts.get(id);
    if (known !== undefined) return known;
    // Also ends the search in a cycle.
    verdicts.set(id, false);
    const isSame = completed.has(id) && now.has(id) && before.get(id) === now.get(id);
    const verdict = isSame && (waitsFor.get(id) ?? []).every(isKept);
    verdicts.set(id, verdict);
    return verdict;
  }
  return new Set([...waitsFor.keys()].filter(isKept));
}

function textsById(document: unknown): Map<string, string> {
  const steps = isObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  return new Map(
    steps.filter(isObject).map((step) => [String(step["id"]), JSON.stringify(step, withSortedKeys)] as const),
  );
}

function withSortedKeys(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ) as JsonRecord;
}

/**
 * The plan in an answer of a model that may still be arriving, as far as it can be read. Steps without an id
 * are named as the planner names them: numbered where several use one tool. The last step is left out until
 * its id and tool are complete. Pure.
 */
export function partialDocument(answer: string): { steps: JsonRecord[] } {
  const read = stepsIn(readPartial(answer)).filter(isObject);
  const complete = read.filter((step, index) => index < read.length - 1 || isNamed(step));
  const steps = complete
    .map((step) => {
      const id = typeof step["id"] === "string" ? step["id"] : "";
      return { step, id, tool: toolOf(step), hasOwnId: id !== "" };
    })
    .filter(({ tool, hasOwnId }) => hasOwnId || tool !== "");
  nameSteps(steps);
  return { steps: steps.map(({ step, id }) => ({ ...step, id })) };
}

/**
 * True for a step that has more than its names: they are complete when the value of the next field begins.
 * Before that the repair makes it null.
 */
function isNamed(step: JsonRecord): boolean {
  const { forEach } = step;
  if (isObject(forEach)) return isObject(forEach["do"]) && isNamed(forEach["do"]);
  return Object.entries(step).some(([name, value]) => name !== "id" && name !== "tool" && value !== null);
}

/** The value that begins at the first brace, closed where the text ends; undefined when it cannot be read. */
function readPartial(answer: string): unknown {
  const start = answer.indexOf("{");
  if (start < 0) return undefined;
  try {
    return parseExactJson(jsonrepair(answer.slice(start)));
  } catch (error) {
    // Both throw for text that is no JSON; more of it may arrive.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** Models put the steps at the top or into one object, such as `{plan: {steps}}`. */
function stepsIn(value: unknown): readonly unknown[] {
  const [plain] = Array.isArray(value) ? value : [value];
  if (!isObject(plain)) return [];
  const holder = [plain, ...Object.values(plain)].find(
    (candidate) => isObject(candidate) && Array.isArray(candidate["steps"]),
  );
  const steps = isObject(holder) ? holder["steps"] : [];
  return Array.isArray(steps) ? steps : [];
}

/** A tool as the catalogue declares it. */
interface DeclaredTool {
  name: string;
  /** Its contract, as the API gives it. */
  contract: unknown;
}

/** The calls of one tool that change something. */
interface ToolEffect {
  tool: string;
  /** Most calls that are known in advance. */
  calls: number;
  /** Lists whose number of entries is known only later: the steps that call the tool for each entry. */
  lists: readonly string[];
}

/** What a plan will do. */
interface PlanEffects {
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
