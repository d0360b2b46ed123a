import type { JsonValue, ToolDescriptor } from "@planwright/plan";

/** Stands in for the function of the same name of packages/plan. */
export function outputOfToolResult(
  result: unknown,
):
  | { ok: true; output: JsonValue }
  | { ok: false; error: { code: string; message: string; data?: JsonValue | undefined } } {
  const { structuredContent, content, isError } = result as {
    structuredContent?: JsonValue;
    content?: { type: string; text?: string }[];
    isError?: boolean;
  };
  const text = (content ?? []).map((block) => block.text ?? "").join("\n");
  if (isError) return { ok: false, error: { code: "TOOL_FAILED", message: text } };
  if (structuredContent !== undefined) return { ok: true, output: structuredContent };
  try {
    const value: JsonValue = JSON.parse(text);
    return { ok: true, output: typeof value === "object" && value !== null ? value : text };
  } catch {
    return { ok: true, output: text };
  }
}

/** Stands in for the function of the same name of packages/plan. */
export function nameTools(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  return tools.map((tool) =>
    counts.get(tool.name) === 1 ? tool : { ...tool, name: `${tool.server}/${tool.name}` },
  );
}
