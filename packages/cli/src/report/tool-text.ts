import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { ToolSnapshot } from "../api/operations.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine, visibleText } from "../terminal/visible-text.ts";
import { inlineJson } from "./format.ts";

/** One tool with everything that a plan's author needs. */
export function toolText(tool: ToolSnapshot, style: Style): string[] {
  return [
    `${style("strong", oneLine(tool.name, 120))}  of server ${oneLine(tool.server, 60)}, ${oneLine(tool.category, 60)}`,
    ...visibleText(tool.description.slice(0, 4_000))
      .split("\n")
      .map((line) => `  ${oneLine(line)}`),
    ...part("Arguments", fieldsOf(tool.inputSchema), style),
    ...part("Output", fieldsOf(tool.outputSchema), style),
    ...part("Contract", contractLines(tool.contract), style),
  ];
}

function part(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : ["", style("strong", title), ...lines.map((line) => `  ${line}`)];
}

function fieldsOf(schema: JsonValue): string[] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(schema) || !isJsonObject(properties)) return [];
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = Object.keys(properties);
  const width = Math.min(30, Math.max(0, ...names.map((name) => name.length)));
  return names.map((name) => {
    const field = properties[name];
    const { type, description } = isJsonObject(field) ? field : {};
    const kind = type === undefined ? "any" : inlineJson(type, 60).replaceAll('"', "");
    const text = typeof description === "string" ? `  ${oneLine(description, 160)}` : "";
    return `${oneLine(name, 64).padEnd(width)}  ${kind}${required.includes(name) ? ", required" : ""}${text}`;
  });
}

function contractLines(contract: JsonValue): string[] {
  if (!isJsonObject(contract)) return [];
  return Object.entries(contract).map(([name, value]) => `${oneLine(name, 64)}: ${inlineJson(value)}`);
}
