import { hasSideEffects } from "../contract/tool-contract.ts";
import { cut, type DiagnosticCollector, type DiagnosticText } from "../diagnostics/diagnostic-collector.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { checkAgainstSchema } from "../schema/compile-schema.ts";
import { type ArgumentText, argumentTexts, isListed } from "../schema/required-texts.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { createGivenNames, type GivenName, type GivenNames } from "./given-names.ts";
import { isNoValue, isPersonAddress, type ParameterKind, parameterKind, speaksOfValue } from "./no-value.ts";
import { isPlaceholderFor } from "./placeholder.ts";

/** A call of a plan. */
export interface PlannedCall {
  readonly step: { readonly index: number; readonly id: string };
  /** Undefined for an unknown tool. */
  readonly tool: ToolDescriptor | undefined;
  readonly arguments: JsonObject;
  /** Path from the step to the arguments. */
  readonly keys: readonly string[];
  /** The arguments are templates for the items of a list, so their texts are not names of things. */
  readonly isForEach: boolean;
}

/**
 * How a request must contain a text so that it counts as a value: among its words; in quotes, for text that
 * may only describe the value ("the author's id"); as an id ("author id Alice"), for text that may only name
 * the thing.
 */
export type SaidHow = "words" | "quotes" | "id";

/** Context for judging values. */
export interface NoValueChecking {
  readonly diagnostics: DiagnosticCollector;
  /** True for a text that another check handles. */
  readonly isPlaceholder: (text: string) => boolean;
  readonly isSaid: (text: string, how: SaidHow) => boolean;
  /** How to get a value, as the end of a sentence. */
  readonly ask: string;
  /**
   * How bad the empty text is where a value is needed. People and programs may know that it is accepted; a
   * model leaves out what it does not know.
   */
  readonly emptyText: "error" | "warning";
  /**
   * True: optional arguments of tools with side effects are checked for placeholders too. People and programs may
   * mean such a text; a model leaves out what it does not know.
   */
  readonly checksOptional: boolean;
}

/** Maximum number of diagnostics for one step. */
const MAX_DIAGNOSTICS = 20;

/**
 * Finds required arguments with a placeholder for this parameter (`[email]`, `extracted_email`), and, for
 * tools with side effects, those that have no real value (blank, "null", "unknown", "the author's id"), and
 * names instead of ids that an earlier call of the plan returns. In optional arguments it finds placeholders, where
 * that is asked for. Text that the request contains or the schema
 * lists is a value. So is the empty text, except for an id, the address of a person, what an earlier step
 * gives, and where the schema refuses it. Another check reports
 * placeholders that need no parameter.
 */
export function checkNoValues(calls: readonly PlannedCall[], checking: NoValueChecking): void {
  const names = createGivenNames();
  const effects = new Map<ToolDescriptor, boolean>();
  for (const call of calls) {
    const { tool, step, isForEach } = call;
    if (!tool) continue;
    const hasEffects = effects.get(tool) ?? hasSideEffects(tool);
    effects.set(tool, hasEffects);
    if (isJsonObject(tool.inputSchema)) checkCall(call, tool.inputSchema, { names, hasEffects, checking });
    if (!isForEach) names.add({ id: step.id, tool, arguments: call.arguments });
  }
}

interface CallChecking {
  readonly names: GivenNames;
  readonly hasEffects: boolean;
  readonly checking: NoValueChecking;
}

function checkCall(call: PlannedCall, schema: JsonObject, context: CallChecking): void {
  const { checking } = context;
  let count = 0;
  const optional = checking.checksOptional && context.hasEffects;
  for (const each of argumentTexts(schema, call.arguments, { optional })) {
    const { text, schemas } = each;
    // Most texts are references.
    const found = text.startsWith("<<") ? undefined : problemOf(each, context);
    if (!found || checking.isPlaceholder(text) || isListed(text, schemas)) continue;
    const keys = [...call.keys, ...each.keys];
    const message = `step ${call.step.id}: ${found.message}`;
    checking.diagnostics.add("ARGUMENT_PLACEHOLDER", { step: call.step, keys }, { ...found, message });
    if (++count >= MAX_DIAGNOSTICS) return;
  }
}

type Problem = Pick<DiagnosticText, "message" | "suggestion" | "severity">;

function problemOf(argument: ArgumentText, context: CallChecking): Problem | undefined {
  const { text, isRequired, name, schemas } = argument;
  const { names, hasEffects } = context;
  const { isSaid, ask } = context.checking;
  if (isPlaceholderFor(text, name)) {
    if (isSaid(text, "words")) return undefined;
    return {
      message: `${shown(name, text)}, which is a placeholder; give the value, or a reference such as <<step.field>>${isRequired ? "" : ", or leave it out"}`,
    };
  }
  if (!hasEffects || !isRequired) return undefined;
  if (text === "") return emptyProblem(argument, context);
  const kind = kindOf(name, schemas);
  if (isNoValue(text, kind)) {
    if (isSaid(text, speaksOfValue(text, kind) ? "quotes" : "words")) return undefined;
    return {
      message: `${shown(name, text)}, which is no value; refer to the earlier step that gives it, such as <<step.field>>, or ${ask}`,
    };
  }
  const given = kind === "id" && !acceptsName(schemas) ? names.idOf(text, name) : undefined;
  if (!given || isSaid(text, "id")) return undefined;
  return {
    message: `${shown(name, text)}, which is a name and no id; ${remedyOf(given)}`,
    suggestion: given.reference,
  };
}

function emptyProblem(
  { text, name, schemas }: ArgumentText,
  { names, checking }: CallChecking,
): Problem | undefined {
  const given = names.fieldOf(name);
  const isRefused = schemas.length > 0 && schemas.every(refusesEmpty);
  if (!given && !isRefused && kindOf(name, schemas) !== "id" && !isPersonAddress(name)) return undefined;
  if (checking.isSaid(text, "words")) return undefined;
  const source = given?.reference ?? "<<step.field>>";
  return {
    message: `${shown(name, text)}, which is no value; refer to the earlier step that gives it, such as ${source}, or ${checking.ask}`,
    // The check against the schema refuses it as well.
    severity: isRefused ? "error" : checking.emptyText,
    suggestion: given?.reference,
  };
}

function refusesEmpty(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false;
  const { minLength = null, pattern = null, format = null } = schema;
  const verdict = checkAgainstSchema({ minLength, pattern, format }, "");
  return verdict.usable && verdict.errors.length > 0;
}

const shown = (name: string, text: string): string => `${name} is ${JSON.stringify(cut(text, 60))}`;

const remedyOf = ({ stepId, reference }: GivenName): string =>
  reference === undefined
    ? `refer to the id that step ${stepId} gives, such as <<${stepId}.field>>`
    : `step ${stepId} gives the id: write ${reference}`;

const SAYS_ID = /^(?:the |an? )?(?:[\w'’]+ ){0,3}(?:(?:object ?)?ids?|uuid|identifier)\b/i;
const SAYS_NAME = /\bnames?\b|\bslug\b|\bhandle\b|\be-?mail\b|\btitle\b/i;

function kindOf(name: string, schemas: readonly JsonValue[]): ParameterKind {
  const kind = parameterKind(name);
  return kind === "any" && describes(schemas, SAYS_ID) && !acceptsName(schemas) ? "id" : kind;
}

/** True for a parameter such as "Name or id of the author". */
const acceptsName = (schemas: readonly JsonValue[]): boolean => describes(schemas, SAYS_NAME);

function describes(schemas: readonly JsonValue[], words: RegExp): boolean {
  return schemas.some((schema) => {
    const description = isJsonObject(schema) ? schema["description"] : undefined;
    return typeof description === "string" && words.test(description.slice(0, 500));
  });
}
