import {
  countText,
  durationText,
  type EffectClass,
  effectClassOf,
  isJsonObject,
  type JsonValue,
  shareText,
  suggestedTools,
} from "@planwright/plan";
import type { ExplainedTool, SuggestedContracts, ToolRecord } from "../operations.ts";
import { oneLine, printableJson, type Style, visibleText } from "../terminal.ts";
import { inlineJson } from "./format.ts";

/**
 * One tool with everything that the author of a plan needs, and how its recent calls ended.
 * @param nowMs - now, in milliseconds since 1970; ages are relative to it
 */
export function toolText(tool: ExplainedTool, { style, nowMs }: { style: Style; nowMs: number }): string[] {
  return [
    `${style("strong", oneLine(tool.name, 120))}  of server ${oneLine(tool.server, 60)}, ${oneLine(tool.category, 60)}`,
    ...visibleText(tool.description.slice(0, 4_000))
      .split("\n")
      .map((line) => `  ${oneLine(line)}`),
    ...part("Lately", latelyLines(tool, nowMs), style),
    ...part("Arguments", fieldsOf(tool.inputSchema), style),
    ...part("Output", fieldsOf(tool.outputSchema), style),
    ...seenPart(tool.observedOutput, style),
    ...part("Effect", tool.contractReport.fields.length === 0 ? [] : [effectLine(tool)], style),
    ...part("Contract", contractLines(tool.contractReport), style),
  ];
}

/** What a call of a tool promises: its effect and its contract. */
export function contractText(tool: ExplainedTool, style: Style): string[] {
  return [
    `${style("strong", oneLine(tool.name, 120))}  of server ${oneLine(tool.server, 60)}`,
    ...part("Effect", [effectLine(tool)], style),
    ...part("Contract", contractLines(tool.contractReport), style),
  ];
}

/** The shape of an output, from the schema of its observation: fields by name with their types. */
export function shapeLines(schema: JsonValue): string[] {
  const fields = seenFields(schema, MAX_LEVELS);
  return fields.length === 0 ? [kindOf(schema)] : fields;
}

function part(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : ["", style("strong", title), ...lines.map((line) => `  ${line}`)];
}

/** When its server listed it, and how its calls ended. */
function latelyLines({ listedAt, disconnectedSince, calls }: ExplainedTool, nowMs: number): string[] {
  const ago = (at: string) => `${durationText(Math.max(0, nowMs - Date.parse(at)))} ago`;
  const seen = [
    ...(disconnectedSince === null
      ? []
      : [`its server is not connected; the connection was lost ${ago(disconnectedSince)}`]),
    ...(listedAt === null ? [] : [`listed by its server ${ago(listedAt)}`]),
  ];
  if (calls.count === 0) return [...seen, "no call of yours in the last 24 hours"];
  const { count, failures, p50Ms, p99Ms, errors, lastAt } = calls;
  const codes = errors.map(({ code, count: times }) => `${oneLine(code, 64)} ${times}`).join(", ");
  return [
    ...seen,
    `${countText(count, "call")} of yours in the last 24 hours${lastAt === null ? "" : `, the last ${ago(lastAt)}`}`,
    failures === 0 ? "none failed" : `${failures} failed (${shareText(failures, count)}): ${codes}`,
    ...(p50Ms === null || p99Ms === null
      ? []
      : [`half within ${durationText(p50Ms)}, 99 in 100 within ${durationText(p99Ms)}`]),
  ];
}

/** Most levels of observed fields that are shown. */
const MAX_LEVELS = 4;

function seenPart(observed: ToolRecord["observedOutput"], style: Style): string[] {
  if (!observed) return [];
  const title = `Output, as seen in ${observed.outputs} ${observed.outputs === 1 ? "run" : "runs"}`;
  return part(title, shapeLines(observed.schema), style);
}

/**
 * The fields by name; fields of inner objects and of items are below and indented. `?` follows a field that
 * was missing in some runs.
 */
function seenFields(schema: JsonValue, levels: number): string[] {
  if (!isJsonObject(schema) || levels === 0) return [];
  const { properties, additionalProperties, items } = schema;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  const lines = named.flatMap(([name, inner]) =>
    seenField(`${oneLine(name, 64)}${required.includes(name) ? "" : "?"}`, inner, levels),
  );
  return [
    ...lines,
    ...(isJsonObject(additionalProperties) ? seenField("[any key]", additionalProperties, levels) : []),
    ...(isJsonObject(items) ? seenField("[each]", items, levels) : []),
  ];
}

function seenField(name: string, schema: JsonValue, levels: number): string[] {
  return [`${name}  ${kindOf(schema)}`, ...seenFields(schema, levels - 1).map((line) => `  ${line}`)];
}

function kindOf(schema: JsonValue): string {
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  return type === undefined ? "any" : inlineJson(type, 60).replaceAll('"', "");
}

/** What a call does when its answer is lost, by its class. */
const EFFECT_TEXT: Readonly<Record<EffectClass, string>> = {
  K: "acts once: it is sent again with the same idempotency key",
  R: "reads, or may be repeated: it is sent again",
  V: "acts: its lookup tool is asked whether it happened, before it is sent again",
  U: "acts: nothing tells whether it happened, so it is never sent again, and a person decides",
};

/** The class of the tool's effect, with its letter and the declaration that decides it. */
function effectLine({ contract: given, contractReport: { fields } }: ExplainedTool): string {
  const contract = isJsonObject(given) ? given : {};
  const { idempotency } = contract;
  const sideEffects = contract["sideEffects"] !== false;
  const toolClass = effectClassOf({
    sideEffects,
    idempotency: idempotency === "natural" || idempotency === "key" ? idempotency : "none",
    lookup: contract["lookup"],
  });
  const decidedBy = toolClass === "V" ? "lookup" : sideEffects ? "idempotency" : "sideEffects";
  const field = fields.find(({ name }) => name === decidedBy);
  const why = field ? ` (${decidedBy} ${inlineJson(field.value, 60)}: ${oneLine(field.why, 300)})` : "";
  return `${toolClass}  ${EFFECT_TEXT[toolClass]}${why}`;
}

/** Fields by name; those of inner objects and of the elements of lists are below and indented. */
function fieldsOf(schema: JsonValue, levels = MAX_LEVELS): string[] {
  if (!isJsonObject(schema) || levels === 0) return [];
  const { properties, items } = schema;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  const width = Math.min(30, Math.max(0, ...named.map(([name]) => name.length)));
  const lineOf = (name: string, field: JsonValue, isRequired: boolean) => {
    const { description } = isJsonObject(field) ? field : {};
    const text = typeof description === "string" ? `  ${oneLine(description, 160)}` : "";
    const kind = `${kindOf(field)}${boundsOf(field)}${isRequired ? ", required" : ""}`;
    return [`${name}  ${kind}${text}`, ...fieldsOf(field, levels - 1).map((line) => `  ${line}`)];
  };
  return [
    ...named.flatMap(([name, field]) =>
      lineOf(oneLine(name, 64).padEnd(width), field, required.includes(name)),
    ),
    ...(isJsonObject(items) ? lineOf("[each]", items, false) : []),
  ];
}

/** Keywords that bound a value, with their words. */
const BOUNDS = {
  minimum: "at least",
  exclusiveMinimum: "more than",
  maximum: "at most",
  exclusiveMaximum: "less than",
  minLength: "characters at least",
  maxLength: "characters at most",
  minItems: "elements at least",
  maxItems: "elements at most",
} as const;

/** The bounds of a field, such as ", at least 1". The largest exact integer is what libraries write for none. */
function boundsOf(schema: JsonValue): string {
  if (!isJsonObject(schema)) return "";
  return Object.entries(BOUNDS)
    .filter(([keyword]) => typeof schema[keyword] === "number")
    .filter(([keyword]) => Math.abs(Number(schema[keyword])) !== Number.MAX_SAFE_INTEGER)
    .map(([keyword, words]) => `, ${words} ${Number(schema[keyword])}`)
    .join("");
}

/** Lines of field, value and source. */
function contractLines({ fields, problems }: ExplainedTool["contractReport"]): string[] {
  const rows = fields.map(({ name, value, why }) => [
    oneLine(name, 64),
    inlineJson(value),
    oneLine(why, 400),
  ]);
  const widthOf = (column: number) =>
    Math.min(32, Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  const [nameWidth, valueWidth] = [widthOf(0), widthOf(1)];
  return [
    ...rows.map(
      ([name = "", value = "", why = ""]) => `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${why}`,
    ),
    ...problems.map((problem) => oneLine(`not read: ${problem}`, 400)),
  ];
}

/** The fields with their reasons, what came of asking a model, and the block for the servers file. */
export function suggestionLines(
  { server, note, tools: suggestions }: SuggestedContracts,
  count: number,
  style: Style,
): string[] {
  const shown = oneLine(server, 60);
  const said = oneLine(note, 1_000);
  if (suggestions.length === 0) {
    return [
      `No contract is suggested for the ${countText(count, "tool")} of server ${shown}: where it is not certain what a tool does, nothing is.`,
      said,
    ];
  }
  const contracts = suggestedTools(suggestions);
  const block = printableJson({ tools: contracts }, 2).split("\n").slice(1, -1);
  return [
    style(
      "strong",
      `Suggested for ${suggestions.length} of the ${countText(count, "tool")} of server ${shown}`,
    ),
    ...suggestions.flatMap(({ tool, fields }) => [`  ${oneLine(tool, 128)}`, ...fields.map(fieldLine)]),
    "",
    said,
    "",
    ...(Object.keys(contracts).length === 0
      ? ["Something speaks against every field, so there is no block for the servers file."]
      : [
          style(
            "strong",
            `To accept, put what is right into the entry of ${shown} in the servers file; nothing else is believed`,
          ),
          ...block,
        ]),
  ];
}

type Field = SuggestedContracts["tools"][number]["fields"][number];

function fieldLine({ field, value, reason, source, against }: Field): string {
  const by = source === "model" ? ", a model proposes" : "";
  const left = against === null ? "" : `; not in the block, because ${oneLine(against, 400)}`;
  return `    ${oneLine(field, 60)} ${inlineJson(value)}${by}: ${oneLine(reason, 400)}${left}`;
}

/** The same for programs: `tools` is the block for the servers file, `suggestions` has every field. */
export function suggestionJson({ server, state, note, tools: suggestions }: SuggestedContracts): object {
  const reasons = suggestions.map(({ tool, fields }) => {
    const inBlock = fields.filter(({ against }) => against === null);
    return [tool, Object.fromEntries(inBlock.map(({ field, reason }) => [field, reason]))];
  });
  return {
    server,
    state,
    note,
    tools: suggestedTools(suggestions),
    reasons: Object.fromEntries(reasons),
    suggestions,
  };
}
