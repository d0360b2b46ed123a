import { hasSideEffects } from "../contract/tool-contract.ts";
import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { isListed, type RequiredText, requiredTexts } from "../schema/required-texts.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { createGivenNames, type GivenName, type GivenNames } from "./given-names.ts";
import { isNoValue, type ParameterKind, parameterKind, speaksOfValue } from "./no-value.ts";

/** A call of a plan. */
export interface PlannedCall {
  readonly step: { readonly index: number; readonly id: string };
  /** Undefined for an unknown one. */
  readonly tool: ToolDescriptor | undefined;
  readonly arguments: JsonObject;
  /** Keys below the step that lead to the arguments. */
  readonly keys: readonly string[];
  /** Arguments whose texts are templates for the items of a list name nothing. */
  readonly isForEach: boolean;
}

/**
 * How a request must give a text for it to be a value: among its words; in quotes, where it may speak of the
 * value ("the author's id"); as an id ("author id Alice"), where it may only name the thing.
 */
export type SaidHow = "words" | "quotes" | "id";

/** What values are judged with. */
export interface NoValueChecking {
  readonly diagnostics: DiagnosticCollector;
  /** True for a text that is looked at elsewhere. */
  readonly isPlaceholder: (text: string) => boolean;
  readonly isSaid: (text: string, how: SaidHow) => boolean;
  /** How a value is asked for, as the end of a sentence. */
  readonly ask: string;
}

/** Most diagnostics for one step. */
const MAX_DIAGNOSTICS = 20;

/**
 * Finds texts that are no values (blank, "null", "unknown", "the author's id") where a tool with side effects
 * requires one, and names in the place of ids that an earlier call of the plan gives. What the request says,
 * or the schema lists, is a value. Placeholders get diagnostics elsewhere.
 */
export function checkNoValues(calls: readonly PlannedCall[], checking: NoValueChecking): void {
  const names = createGivenNames();
  const effects = new Map<ToolDescriptor, boolean>();
  for (const call of calls) {
    const { tool, step, isForEach } = call;
    if (!tool) continue;
    const hasEffects = effects.get(tool) ?? hasSideEffects(tool);
    effects.set(tool, hasEffects);
    if (isJsonObject(tool.inputSchema) && hasEffects) checkCall(call, tool.inputSchema, names, checking);
    if (!isForEach) names.add({ id: step.id, tool, arguments: call.arguments });
  }
}

function checkCall(
  call: PlannedCall,
  schema: JsonObject,
  names: GivenNames,
  checking: NoValueChecking,
): void {
  let count = 0;
  for (const required of requiredTexts(schema, call.arguments)) {
    const { text, schemas } = required;
    // By far the most are references.
    const found = text.startsWith("<<") ? undefined : problemOf(required, names, checking);
    if (!found || checking.isPlaceholder(text) || isListed(text, schemas)) continue;
    const keys = [...call.keys, ...required.keys];
    const message = `step ${call.step.id}: ${found.message}`;
    checking.diagnostics.add("ARGUMENT_PLACEHOLDER", { step: call.step, keys }, { ...found, message });
    if (++count >= MAX_DIAGNOSTICS) return;
  }
}

function problemOf(
  { text, name, schemas }: RequiredText,
  names: GivenNames,
  { isSaid, ask }: NoValueChecking,
): { message: string; suggestion?: string | undefined } | undefined {
  const kind = kindOf(name, schemas);
  if (isNoValue(text, kind)) {
    if (isSaid(text, speaksOfValue(text, kind) ? "quotes" : "words")) return undefined;
    return {
      message: `${shown(name, text)}, which is no value; refer to the earlier step that gives it, such as <<step.field>>, or ${ask}`,
    };
  }
  const given = kind === "id" && !takesName(schemas) ? names.idOf(text, name) : undefined;
  if (!given || isSaid(text, "id")) return undefined;
  return {
    message: `${shown(name, text)}, which is a name and no id; ${remedyOf(given)}`,
    suggestion: given.reference,
  };
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
  return kind === "any" && describes(schemas, SAYS_ID) && !takesName(schemas) ? "id" : kind;
}

/** "Name or id of the author". */
const takesName = (schemas: readonly JsonValue[]): boolean => describes(schemas, SAYS_NAME);

function describes(schemas: readonly JsonValue[], words: RegExp): boolean {
  return schemas.some((schema) => {
    const description = isJsonObject(schema) ? schema["description"] : undefined;
    return typeof description === "string" && words.test(description.slice(0, 500));
  });
}
