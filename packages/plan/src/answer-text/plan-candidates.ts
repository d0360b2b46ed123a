import { CALL_LISTS, callsIn, isCall, isCatalogue } from "../dialect/call-fields.ts";
import { isAgainstRunning, looksLikeEffect, saysNothing } from "../dialect/field-words.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { innerJson } from "./inner-json.ts";
import { questionsIn, readQuestion } from "./questions-in.ts";

/** What a JSON value of an answer could be. */
export type Candidate =
  | PlanCandidate
  /** One call on its own. */
  | { readonly type: "call"; readonly call: JsonObject }
  /** The model says in JSON why there is no plan. */
  | Declined
  | { readonly type: "other" };

/** No plan, and why. */
export interface Declined {
  readonly type: "declined";
  readonly reason: string;
  /** What the user must say; empty when no answer would help. */
  readonly questions: readonly string[];
}

/** A list of calls, or an object that holds one. */
export interface PlanCandidate {
  readonly type: "plan";
  readonly document: JsonObject | JsonValue[];
  /** Names of fields that stood around the plan and are no part of it. */
  readonly ignored: readonly string[];
  readonly isRepaired: boolean;
}

/** Fields of a plan that may stand beside it, in its wrapper. */
const PLAN_FIELDS = [
  "outputs",
  "output_steps",
  "executionOrder",
  "policy",
  "limits",
  "formatVersion",
] as const;
const WRAPPERS = new Set(
  "plan content tool_plan toolPlan execution_plan executionPlan workflow response result output answer final_answer data json tool_calls toolCalls function_calls".split(
    " ",
  ),
);
const REASONS = [
  "impossible",
  "missing",
  "error",
  "refusal",
  "question",
  "questions",
  "clarification",
  "reason",
  "message",
];
/** What stands in such a field when there is no reason. */
const NO_REASON = /^(?:none|nothing|no|n\/?a|null|nil|undefined|false|-)?\.?$/i;
/** Names under which models put them once more. In any other object they are data of another shape. */
const ABOUT_REASONS = /^(?:clarif|question|missing|error|refus|declin|impossib|reason)/i;
const MAX_LEVELS = 8;
const OTHER: Candidate = { type: "other" };

/** What a value could be, wrappers taken away. More than one when a wrapper holds several plans. */
export function candidatesOf(value: JsonValue, level = 0): Candidate[] {
  if (level > MAX_LEVELS) return [OTHER];
  if (typeof value === "string") {
    const inner = innerJson(value);
    return inner ? candidatesOf(inner.value, level + 1).map(withRepair(inner.isRepaired)) : [OTHER];
  }
  if (Array.isArray(value)) return candidatesOfList(value, level);
  if (!isJsonObject(value)) return [OTHER];
  const document = withCallList(value);
  if (document)
    return isCatalogue(document.calls)
      ? [OTHER]
      : [document.calls.length > 0 ? document.plan : (declined(value) ?? document.plan)];
  if (isCall(value)) return [{ type: "call", call: value }];
  return inWrapper(value, level) ?? [declined(value) ?? OTHER];
}

function withRepair(isRepaired: boolean) {
  return (candidate: Candidate): Candidate =>
    candidate.type === "plan" && isRepaired ? { ...candidate, isRepaired } : candidate;
}

function candidatesOfList(list: JsonValue[], level: number): Candidate[] {
  if (list.length > 0 && list.every(isCall)) {
    return isCatalogue(list) ? [OTHER] : [{ type: "plan", document: list, ignored: [], isRepaired: false }];
  }
  const [only, ...others] = list;
  if (only === undefined || others.length > 0 || typeof only !== "object") {
    // A list in which some entries are calls was meant as a plan; the reader reports what is wrong with the
    // others.
    return list.some(isCall)
      ? [{ type: "plan", document: list, ignored: [], isRepaired: false }]
      : list.slice(0, 20).flatMap((item) => (isJsonObject(item) ? candidatesOf(item, level + 1) : [OTHER]));
  }
  return candidatesOf(only, level + 1);
}

/**
 * The object as a plan when it has calls, also as a text; where several fields could be them, the first that
 * holds any.
 */
function withCallList(object: JsonObject): { plan: PlanCandidate; calls: JsonValue[] } | undefined {
  const found = CALL_LISTS.flatMap((name) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const inner = typeof value === "string" ? innerJson(value) : undefined;
    const calls = callsIn(inner ? inner.value : value);
    return calls ? [{ name, calls, isRepaired: inner?.isRepaired === true }] : [];
  });
  const chosen = found.find(({ calls }) => calls.some(isCall) && !isCatalogue(calls)) ?? found[0];
  if (!chosen) return undefined;
  const { name, calls, isRepaired } = chosen;
  const document = { ...object, [name]: calls };
  return { plan: { type: "plan", document, ignored: [], isRepaired }, calls };
}

/**
 * The plans inside a wrapper, with the fields of a plan that stand beside them; without any, the reason that
 * a wrapper gives.
 */
function inWrapper(object: JsonObject, level: number): Candidate[] | undefined {
  const names = Object.keys(object);
  const inside = new Map<string, Candidate[]>();
  let reason: Candidate | undefined;
  for (const name of names) {
    const value = object[name] ?? null;
    const isWrapper = names.length === 1 || WRAPPERS.has(name);
    if (!isWrapper && (typeof value !== "object" || value === null)) continue;
    const candidates = candidatesOf(value, level + 1);
    const found = candidates.filter(({ type }) => type === "plan" || (isWrapper && type === "call"));
    if (found.length > 0) inside.set(name, found);
    else if (mayHoldReason(name)) reason ??= candidates.find(({ type }) => type === "declined");
  }
  if (inside.size === 0) return reason && [reason];
  const beside = names.filter((name) => !inside.has(name));
  return [...inside.values()].flat().map((candidate) => withSiblings(candidate, object, beside));
}

function mayHoldReason(name: string): boolean {
  return WRAPPERS.has(name) || ABOUT_REASONS.test(name);
}

function withSiblings(candidate: Candidate, wrapper: JsonObject, names: readonly string[]): Candidate {
  if (candidate.type !== "plan") return candidate;
  const { document } = candidate;
  const own: JsonObject = {};
  const ignored = [...candidate.ignored];
  for (const name of names) {
    const value = wrapper[name] ?? null;
    if (saysNothing(name, value)) continue;
    // The reader refuses what may change a call.
    const mayChange = looksLikeEffect(name) || isAgainstRunning({ name, value });
    if (PLAN_FIELDS.some((field) => field === name) || mayChange) own[name] = value;
    else ignored.push(name);
  }
  if (Object.keys(own).length === 0) return { ...candidate, ignored };
  const inner = Array.isArray(document) ? { steps: document } : document;
  return { ...candidate, document: { ...own, ...inner }, ignored };
}

/** What the model says instead of a plan. */
function declined(object: JsonObject): Declined | undefined {
  for (const name of REASONS) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const given = (Array.isArray(value) ? value : [value ?? null]).flatMap(
      (each) => readQuestion(each)?.question ?? [],
    );
    const texts = given.filter((text) => !NO_REASON.test(text.trim()));
    const reason = texts.join(" ").trim().slice(0, 1_000);
    if (reason !== "") return { type: "declined", reason, questions: questionsIn(name, texts) };
  }
  return undefined;
}
