import {
  isJsonObject,
  type JsonObject,
  schemaOfShape,
  seenIn,
  type ToolAnnotations,
  type ToolContract,
  type ToolDescriptor,
  toolContract,
} from "@planwright/plan";

/** A tool as clients see it. */
export interface ToolView {
  name: string;
  server: string;
  title: string | null;
  description: string;
  category: string;
  inputSchema: JsonObject;
  outputSchema: JsonObject | null;
  observedOutput: { outputs: number; schema: JsonObject } | null;
  annotations: ToolAnnotations | null;
  contract: ToolContract;
}

const MAX_CATEGORY_LENGTH = 100;

/** The public side of a descriptor: nothing of the operator's configuration goes out. Pure. */
export function toToolView(tool: ToolDescriptor): ToolView {
  const server = tool.server ?? "";
  return {
    name: tool.name,
    server,
    title: tool.title ?? tool.annotations?.title ?? null,
    description: tool.description ?? "",
    category: declaredCategory(tool) ?? (server === "" ? "general" : server),
    inputSchema: tool.inputSchema ?? { type: "object" },
    outputSchema: tool.outputSchema ?? null,
    observedOutput: observedView(tool.observedOutput),
    annotations: tool.annotations ?? null,
    contract: toolContract(tool).contract,
  };
}

function observedView(shape: ToolDescriptor["observedOutput"]): ToolView["observedOutput"] {
  return shape ? { outputs: seenIn(shape), schema: schemaOfShape(shape) } : null;
}

/** `category` in `_meta`, or at the top level of the descriptor. */
function declaredCategory(tool: ToolDescriptor): string | undefined {
  const meta =
    isJsonObject(tool._meta) && Object.hasOwn(tool._meta, "category") ? tool._meta["category"] : undefined;
  const category = meta ?? (Object.hasOwn(tool, "category") ? tool["category"] : undefined);
  return typeof category === "string" && category !== "" && category.length <= MAX_CATEGORY_LENGTH
    ? category
    : undefined;
}
