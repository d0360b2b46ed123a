import { type DiagnosticCode, isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import {
  CALL_LISTS,
  callsIn,
  cut,
  isAgainstRunning,
  isCall,
  isCatalogue,
  jsonEquals,
  looksLikeEffect,
  saysNothing,
} from "@planwright/plan/internal";
import { type BrokenJson, type FoundJson, type FoundValue, innerJson } from "./find-json.ts";
import { isRefusal, questionsIn, readQuestion } from "./prose.ts";
import { hasElidedCalls } from "./scan-json.ts";

/** The plan that was chosen from an answer, or why there is none. */
type Choice =
  /** `others`: number of other lists of calls that are not plans for these tools, such as a template. */
  | { readonly type: "plan"; readonly plan: PlanCandidate; readonly others: number }
  | {
      readonly type: "none";
      readonly code: DiagnosticCode;
      readonly message: string;
      readonly isElided?: true;
    }
  /** The model asks for missing information. */
  | { readonly type: "asks"; readonly questions: readonly string[] };

/** At most this number of different plans is compared. */
const MAX_PLANS = 20;

/**
 * Chooses the plan from all JSON in an answer. Never guesses: two different plans, or a call that is outside
 * the plan, are ambiguous.
 * @param formOf - the canonical text of a document that is a plan for the available tools; otherwise
 *   undefined
 */
export function choosePlan(
  text: string,
  found: FoundJson,
  formOf: (plan: PlanCandidate) => string | undefined,
): Choice {
  const values = trustworthy(text, found);
  const { plans, calls, refusals } = sorted(values);
  const [broken] = found.broken;
  // Single calls may be the remains of a broken list.
  if (broken && plans.length === 0) return brokenChoice(text, found.broken);
  if (plans.length > 0) {
    const only = theOnly(plans, formOf);
    if (!only) return ambiguous(`${plans.length} different plans`);
    if (hasElidedCalls(only.plan.document)) return elided("of the plan");
    return calls.every(({ call }) => isPartOf(only.plan, call))
      ? { type: "plan", ...only }
      : ambiguous("a plan, and calls beside it that are not in it");
  }
  if (calls.length > 0) {
    if (!areTogether(values, calls)) return ambiguous("several calls that stand apart");
    const isRepaired = calls.some(({ found: { isRepaired: repaired } }) => repaired);
    const document = calls.map(({ call }) => call);
    return { type: "plan", plan: { type: "plan", document, ignored: [], isRepaired }, others: 0 };
  }
  const [refusal] = refusals;
  if (refusal && refusal.questions.length > 0) return { type: "asks", questions: refusal.questions };
  if (refusal) return none("ANSWER_DECLINED", `The model gives no plan: ${refusal.reason}`);
  return withoutAny(text, values);
}

const none = (code: DiagnosticCode, message: string): Choice => ({ type: "none", code, message });
const ambiguous = (what: string): Choice =>
  none("ANSWER_AMBIGUOUS", `The answer holds ${what}; answer with exactly one plan and no other JSON`);

/**
 * When an answer contains broken JSON, other JSON counts as complete only at the beginning of a line or a
 * code fence. Otherwise it may be a piece of the broken JSON, or an earlier draft.
 */
function trustworthy(text: string, { values, broken }: FoundJson): readonly FoundValue[] {
  const last = broken.at(-1);
  if (!last) return values;
  const fences = [...text.matchAll(/^[ \t]*```[\w-]{0,20}\s*/gm)];
  const opened = new Set(
    fences.filter((_, index) => index % 2 === 0).map((fence) => fence.index + fence[0].length),
  );
  const isComplete = ({ start }: FoundValue) => opened.has(start) || text.charAt(start - 1) === "\n";
  return values.filter((value) => value.start > last.at && isComplete(value));
}

function brokenChoice(text: string, all: readonly BrokenJson[]): Choice {
  const broken = all.find(({ isElided }) => isElided) ?? all[0];
  const line = text.slice(0, broken?.at).split("\n").length;
  if (!broken || broken.isElided) return elided(`in the JSON that begins in line ${line}`);
  return none("PLAN_NOT_JSON", brokenWords(line, broken));
}

const elided = (where: string): Choice => ({
  type: "none",
  code: "ANSWER_TRUNCATED",
  message: `The answer leaves something out ${where}, with an ellipsis or a comment in its place; write every step and value`,
  isElided: true,
});

function brokenWords(line: number, { reason }: BrokenJson): string {
  return `The JSON that begins in line ${line} of the answer is not valid: ${reason}. Answer with one JSON object {"steps":[...]} and nothing else`;
}

function withoutAny(text: string, values: readonly FoundValue[]): Choice {
  const shown = JSON.stringify(cut(text.trim(), 200));
  if (isRefusal(text)) return none("ANSWER_REFUSED", `The model refuses: ${shown}`);
  const [only] = values;
  const isEmptyList = values.length === 1 && Array.isArray(only?.value) && only.value.length === 0;
  if (isEmptyList && only && !isArgument(text, only))
    return none("PLAN_EMPTY", "The plan has no steps; it needs at least one");
  if (only)
    return none(
      "PLAN_SHAPE",
      'The JSON in the answer is no plan; one is {"steps": [{"id", "tool", "arguments"}]}',
    );
  if (text.trim() === "") return none("PLAN_NOT_JSON", "The answer is empty");
  return none("PLAN_NOT_JSON", `The answer holds no JSON object {"steps":[...]}: ${shown}`);
}

/** True for a value inside a call of another notation, such as `[f(x=[])]`. */
function isArgument(text: string, { start }: FoundValue): boolean {
  return /[=(,:]$/.test(text.slice(Math.max(0, start - 20), start).trimEnd());
}

interface LoneCall {
  readonly call: JsonObject;
  readonly found: FoundValue;
}

/** The values, grouped by what they could be; identical plans count once. */
function sorted(values: readonly FoundValue[]) {
  const plans = new Map<string, PlanCandidate>();
  const calls: LoneCall[] = [];
  const refusals: Declined[] = [];
  for (const found of values) {
    for (const candidate of candidatesOf(found.value)) {
      if (candidate.type === "plan") {
        const isRepaired = candidate.isRepaired || found.isRepaired;
        plans.set(JSON.stringify(candidate.document), { ...candidate, isRepaired });
      } else if (candidate.type === "call") calls.push({ call: candidate.call, found });
      else if (candidate.type === "declined") refusals.push(candidate);
    }
  }
  return { plans: [...plans.values()], calls, refusals };
}

/**
 * The plan among the candidates, when all valid plans are equal. A single candidate is returned even when it
 * is invalid.
 */
function theOnly(
  plans: readonly PlanCandidate[],
  formOf: (plan: PlanCandidate) => string | undefined,
): { plan: PlanCandidate; others: number } | undefined {
  const [alone, ...more] = plans;
  if (alone && more.length === 0) return { plan: alone, others: 0 };
  if (plans.length > MAX_PLANS) return undefined;
  const readable = plans.flatMap((plan) => {
    const form = formOf(plan);
    return form === undefined ? [] : [{ plan, form }];
  });
  const [first] = readable;
  const isOne = first && readable.every(({ form }) => form === first.form);
  return isOne ? { plan: first.plan, others: plans.length - readable.length } : undefined;
}

function isPartOf({ document }: PlanCandidate, call: JsonObject): boolean {
  const lists = Array.isArray(document) ? [document] : Object.values(document).filter(Array.isArray);
  return lists.some((list: JsonValue[]) => list.some((item) => isJsonObject(item) && jsonEquals(item, call)));
}

/**
 * True for consecutive calls with only fences and tags between them, as models write several calls in one
 * turn.
 */
function areTogether(values: readonly FoundValue[], calls: readonly LoneCall[]): boolean {
  const holders = new Set(calls.map(({ found }) => found));
  // One value with several separate calls is not a sequence of calls.
  if (holders.size < calls.length) return false;
  const first = values.findIndex((value) => holders.has(value));
  const row = values.slice(first, first + calls.length);
  return row.every((value, index) => holders.has(value) && (index === 0 || isNothing(value.gap)));
}

function isNothing(gap: string): boolean {
  return gap.length < 200 && /^(?:<[/|\w]{1,40}>|```(?:json)?)*$/.test(gap);
}

/** The possible meaning of a JSON value in an answer. */
type Candidate =
  | PlanCandidate
  /** A single call. */
  | { readonly type: "call"; readonly call: JsonObject }
  /** A reason in JSON why there is no plan. */
  | Declined
  | { readonly type: "other" };

/** A reason why there is no plan. */
interface Declined {
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
function candidatesOf(value: JsonValue, level = 0): Candidate[] {
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
