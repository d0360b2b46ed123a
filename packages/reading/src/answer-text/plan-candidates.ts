import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import {
  CALL_LISTS,
  callsIn,
  isAgainstRunning,
  isCall,
  isCatalogue,
  looksLikeEffect,
  saysNothing,
} from "@planwright/plan/internal";
import { innerJson } from "./inner-json.ts";
import { questionsIn, readQuestion } from "./questions-in.ts";

/** The possible meaning of a JSON value in an answer. */
export type Candidate =
  | PlanCandidate
  /** A single call. */
  | { readonly type: "call"; readonly call: JsonObject }
  /** A reason in JSON why there is no plan. */
  | Declined
  | { readonly type: "other" };

/** A reason why there is no plan. */
export interface Declined {
  readonly type: "declined";
  readonly reason: string;
  /** Questions that the user must answer; empty when no answer would help. */
  readonly questions: readonly string[];
}

/** A list of calls, or an object that contains one. */
export interface PlanCandidate {
  readonly type: "plan";
  readonly document: JsonObject | JsonValue[];
  /** Names of fields around the plan that are not part of it. */
  readonly ignored: readonly string[];
  readonly isRepaired: boolean;
}

/** Fields of a plan that may be in its wrapper instead. */
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
/** Values of such a field that mean: no reason. */
const NO_REASON = /^(?:none|nothing|no|n\/?a|null|nil|undefined|false|-)?\.?$/i;
/** Names of inner objects with reasons. In other objects these fields are data. */
const ABOUT_REASONS = /^(?:clarif|question|missing|error|refus|declin|impossib|reason)/i;
const MAX_LEVELS = 8;
const OTHER: Candidate = { type: "other" };

/** The possible meanings of a value, without its wrappers. Several when a wrapper contains several plans. */
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
    // A list with some calls was meant as a plan; the reader reports the errors of the other entries.
    return list.some(isCall)
      ? [{ type: "plan", document: list, ignored: [], isRepaired: false }]
      : list.slice(0, 20).flatMap((item) => (isJsonObject(item) ? candidatesOf(item, level + 1) : [OTHER]));
  }
  return candidatesOf(only, level + 1);
}

/**
 * The object as a plan when it contains calls, also as JSON text. When several fields may contain them, the
 * first that does is used.
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
 * The plans inside a wrapper, together with plan fields of the wrapper; without plans, the reason in the
 * wrapper.
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
  const siblingNames = names.filter((name) => !inside.has(name));
  return [...inside.values()].flat().map((candidate) => withSiblings(candidate, object, siblingNames));
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
    // The reader refuses fields that may change a call.
    const mayChange = looksLikeEffect(name) || isAgainstRunning({ name, value });
    if (PLAN_FIELDS.some((field) => field === name) || mayChange) own[name] = value;
    else ignored.push(name);
  }
  if (Object.keys(own).length === 0) return { ...candidate, ignored };
  const inner = Array.isArray(document) ? { steps: document } : document;
  return { ...candidate, document: { ...own, ...inner }, ignored };
}

/** The reason that a model gives instead of a plan. */
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
