import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { ExplainedTool, ToolRecord } from "../api/tools.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine, visibleText } from "../terminal/visible-text.ts";
import { inlineJson } from "./format.ts";

/** One tool with everything that a plan's author needs. */
export function toolText(tool: ExplainedTool, style: Style): string[] {
  return [
    `${style("strong", oneLine(tool.name, 120))}  of server ${oneLine(tool.server, 60)}, ${oneLine(tool.category, 60)}`,
    ...visibleText(tool.description.slice(0, 4_000))
      .split("\n")
      .map((line) => `  ${oneLine(line)}`),
    ...part("Arguments", fieldsOf(tool.inputSchema), style),
    ...part("Output", fieldsOf(tool.outputSchema), style),
    ...seenPart(tool.observedOutput, style),
    ...part("Contract", contractLines(tool.contractReport), style),
  ];
}

function part(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : ["", style("strong", title), ...lines.map((line) => `  ${line}`)];
}

/** Levels of fields that were seen which are shown. */
const MAX_LEVELS = 4;

function seenPart(observed: ToolRecord["observedOutput"], style: Style): string[] {
  if (!observed) return [];
  const title = `Output, as seen in ${observed.outputs} ${observed.outputs === 1 ? "run" : "runs"}`;
  const fields = seenFields(observed.schema, MAX_LEVELS);
  return part(title, fields.length === 0 ? [kindOf(observed.schema)] : fields, style);
}

/**
 * Fields by name, those of inner objects and of items below theirs; `?` behind those that were not there each
 * time.
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

function fieldsOf(schema: JsonValue): string[] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(schema) || !isJsonObject(properties)) return [];
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = Object.keys(properties);
  const width = Math.min(30, Math.max(0, ...names.map((name) => name.length)));
  return names.map((name) => {
    const field = properties[name];
    const { description } = isJsonObject(field) ? field : {};
    const kind = kindOf(field ?? null);
    const text = typeof description === "string" ? `  ${oneLine(description, 160)}` : "";
    return `${oneLine(name, 64).padEnd(width)}  ${kind}${required.includes(name) ? ", required" : ""}${text}`;
  });
}

/** Field, value, and where it comes from. */
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
