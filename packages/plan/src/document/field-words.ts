/**
 * The meaning of field names that no dialect defines. Names are compared without case, spaces and `_-/#$@`. A
 * name that is in no list has no known meaning.
 */

import { digitsOf, fromJsonText, isJsonNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";

/** Prefixes of the names of notes: `step_description`, `overall_goal`. */
const NOTE_PREFIXES =
  "step|plan|task|tool|action|call|overall|brief|short|detailed|general|internal|additional|my|the|expected|estimated|initial|key";
const NOTE_SUFFIXES = "text|message|string|summary|list";
const NOTES = [
  // Reasons and purposes
  "description|desc|comment|explanation|note|remark|annotation|rationale|reason|reasoning|thought|thinking|thoughtprocess|thoughtprocedure",
  "chainofthought|cot|scratchpad|analysis|reflection|critique|observation|justification|motivation|why|purpose|goal|objective|intent|intention|aim",
  "summary|overview|background|strategy|approach|methodology|explain|understanding|usecase|context|title|label|name|displayname|heading|caption|headline|topic",
  // The request
  "task|query|userquery|request|userrequest|originalquery|originalrequest|prompt|userinput|userintent|instruction|message|usermessage|todo",
  // Expected results
  "status|state|stepstatus|confidence|confidencelevel|confidencescore|certainty|score|outcome|result|output|response|effect|behavior|behaviour|expectation|outputschema|outputtype|outputformat|outputdescription",
  "successcriteria|successcriterion|acceptancecriteria|assumption|warning|risk|consideration|limitation|caveat|alternative|tradeoff|constraint",
  "time|duration|cost|tokens|latency|complexity|difficulty|effort|importance|impact|totalcost|totalduration",
  // Names for outputs, which references of the plan do not use unless they name a step
  "produces|outputname|outputvariable|outputvar|outputkey|outputas|outputmapping|outputmap|outputfield|resultname|resultvariable|resultkey|resultas|saveas|saveresultas|saveoutputas|storeas|storeresultas|storeresultin|storein|saveto|assignto|assign|bindto|variable|variablename|var|as|returns|returnvalue|returntype",
  // About the document
  "version|schemaversion|planversion|apiversion|revision|formatname|metadata|meta|tag|keyword|category|author|createdby|createdat|created|updatedat|updated|generatedat|generatedby|timestamp|date|datetime|model|modelname|agent|assistant|planner|source|language|locale|id|planid|requestid|planname|plantitle|uuid",
  "totalsteps|total|stepcount|stepscount|numsteps|numberofsteps|nsteps|totalcalls|callcount|numcalls|totaltools|toolcount|toolscount|numtools|count|toolsused|toolsneeded|toolsrequired|requiredtools|usedtools|progress",
  "parallel|isparallel|parallelizable|canparallel|canrunparallel|canruninparallel|canbeparallel|runinparallel|executeinparallel|parallelexecution|parallelgroup|parallelgroups|parallelsteps",
  "readonly|isreadonly|idempotent|isidempotent|sideeffect|hassideeffect|final|isfinal|islast|islaststep|isfinalstep",
  "answer|finalanswer|finalresponse|reply|assistantmessage|conclusion|icon|color|colour|emoji|display|position|ui",
  // Envelopes of providers
  "role|content|object|usage|choices|finishreason|stopreason|stopsequence|logprobs|systemfingerprint|servicetier|audio|annotations|thoughtsignature|callerid|cachecontrol",
].join("|");
const NOTE = new RegExp(`^(?:${NOTE_PREFIXES}){0,2}(?:${NOTES})(?:${NOTE_SUFFIXES})?(?:e?s)?$`);

/**
 * With `true` these fields change nothing; any other value means that a call must not be made, or not yet.
 */
const AFFIRMED = new Set(
  "success valid isvalid isfeasible feasible possible ispossible executable isexecutable canexecute ready isready complete iscomplete completed required isrequired mandatory enabled isenabled active critical iscritical ok needstools needstool requirestools requirestool usetools usetool".split(
    " ",
  ),
);

/** Words of conditions, loops, repeats, waits, approvals, branches and orders. */
const EFFECTS = new Set(
  "if when whenever unless condition conditions conditional conditionals guard guards precondition preconditions postcondition predicate skip skipped loop loops foreach iterate iteration iterations iterator over repeat repeats repeated while until retry retries attempts backoff timeout timeouts delay delays wait waits sleep schedule scheduled cron approval approvals approve approved confirm confirmation confirmed review human consent gate catch fallback fallbacks else otherwise then branch branches switch case cases rollback compensate compensation dry disabled optional cancel abort stop edges edge next previous order sequence sequential stage stages phase phases mode trigger triggers error errors failure failures fail only batch limit throttle undo missing questions unanswered unresolved impossible".split(
    " ",
  ),
);

/** Statuses that mean: the step or plan must not run. */
const NOT_TO_RUN =
  /^(?:errors?|fail(?:ed|ure)?|refused|declined|impossible|invalid|cancell?ed|skip(?:ped)?|disabled|blocked|rejected|inactive)$/i;

/** True for a status that means: the step or plan must not run. */
export function isAgainstRunning({ name, value }: { name: string; value: JsonValue }): boolean {
  return (
    /^(?:step|plan)?(?:status|state)$/.test(plainName(name)) &&
    typeof value === "string" &&
    NOT_TO_RUN.test(value.trim())
  );
}

/** Longer names have no known meaning. */
const MAX_LENGTH = 64;

/** The normal form of field names for comparison: `depends_on`, `dependsOn` and `Depends On` are equal. */
export function plainName(name: string): string {
  return name.length > MAX_LENGTH ? name : name.toLowerCase().replace(/[\s_\-/#$@]+/g, "");
}

/**
 * True for the name of a note about a step or a plan: a description, a reason, an expected result, a version.
 */
export function isNoteName(name: string): boolean {
  const plain = plainName(name);
  return plain.length <= MAX_LENGTH && NOTE.test(plain);
}

/** True for a field name that is a note only with the value `true`. */
export function isAffirmation(name: string): boolean {
  return AFFIRMED.has(plainName(name));
}

/** True for a name that may be a condition, a loop, a repeat, an approval, or an order of calls. */
export function looksLikeEffect(name: string): boolean {
  if (name.length > MAX_LENGTH) return true;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return EFFECTS.has(plainName(name)) || words.some((word) => EFFECTS.has(word)) || words[0] === "for";
}

const NOTHING = new Set(["", "none", "null", "nil", "n/a", "na", "no", "never", "nothing", "-", "{}", "[]"]);

/** True for a value that means: nothing. `false` and 0 mean nothing only for fields with effects. */
export function saysNothing(name: string, value: JsonValue): boolean {
  if (value === null) return true;
  if (typeof value === "string") return NOTHING.has(value.trim().toLowerCase().slice(0, 8));
  if (typeof value === "object") return Object.keys(value).length === 0;
  return (value === false || value === 0) && looksLikeEffect(name);
}

/** A step, tool or provided field that must come before, and the fields of its output that are needed. */
interface NamedDependency {
  readonly name: string;
  readonly fields: readonly string[];
}

/**
 * What a value names as dependencies, of a call and of a tool alike: one name or a list of them, also as JSON
 * text; each a text, a number, or an object such as `{step: "s1"}` or `{tool: "find", required_fields:
 * ["id"]}`. null, false, `{}`, an empty text or list, and -1 name nothing. Undefined for any other value.
 */
export function dependencyNames(value: JsonValue): NamedDependency[] | undefined {
  const form = fromJsonText(value);
  const named: NamedDependency[] = [];
  for (const item of Array.isArray(form) ? form : [form]) {
    const dependency = isJsonObject(item) ? namedInObject(Object.entries(item)) : dependencyOf(item);
    if (!dependency) return undefined;
    if (dependency.name !== "") named.push(dependency);
  }
  return named;
}

const NO_DEPENDENCY: NamedDependency = { name: "", fields: [] };

function dependencyOf(item: JsonValue): NamedDependency | undefined {
  if (item === null || item === false || item === -1) return NO_DEPENDENCY;
  if (isJsonNumber(item)) return { name: digitsOf(item), fields: [] };
  return typeof item === "string" ? { name: item.trim(), fields: [] } : undefined;
}

const NAMES = new Set(["id", "step", "stepid", "tool", "toolname", "name"]);
const FIELDS = new Set(["field", "fields", "requiredfields"]);
const WANTED = new Set([...FIELDS, "outputs", "path"]);

/**
 * `{step: "s1", field: "_id"}` names s1. An object with any other field, such as a condition, names nothing.
 */
function namedInObject(entries: readonly (readonly [string, JsonValue])[]): NamedDependency | undefined {
  if (entries.length === 0) return NO_DEPENDENCY;
  const named = entries.filter(([field]) => NAMES.has(plainName(field)));
  const isHarmless = entries.every(
    ([field]) => NAMES.has(plainName(field)) || WANTED.has(plainName(field)) || isNoteName(field),
  );
  const [first] = named;
  const dependency = isHarmless && first && typeof first[1] !== "object" ? dependencyOf(first[1]) : undefined;
  const wanted = entries.filter(([field]) => FIELDS.has(plainName(field))).flatMap(([, value]) => value);
  const fields = wanted.filter((field) => typeof field === "string");
  return dependency && { ...dependency, fields };
}
