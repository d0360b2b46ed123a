import {
  bareName,
  type ContractReport,
  contractReport,
  isJsonObject,
  type JsonObject,
  schemaOfShape,
  seenIn,
  type ToolAnnotations,
  type ToolContract,
  type ToolDescriptor,
  toolContract,
} from "@planwright/plan";

/** A tool for clients. */
export interface ToolView {
  name: string;
  server: string;
  /** The name on the server. */
  ownName: string;
  title: string | null;
  description: string;
  category: string;
  inputSchema: JsonObject;
  /** The same as `inputSchema`. */
  parameters: JsonObject;
  outputSchema: JsonObject | null;
  observedOutput: { outputs: number; schema: JsonObject } | null;
  annotations: ToolAnnotations | null;
  contract: ToolContract;
  /** Computed only if it is selected. */
  contractReport: () => ContractReport;
}

const MAX_CATEGORY_LENGTH = 100;

/**
 * The public fields of a descriptor. Of the operator's configuration it shows only whether a server is
 * trusted, and which fields the operator set. Pure.
 */
export function toToolView(tool: ToolDescriptor): ToolView {
  const server = tool.server ?? "";
  const inputSchema = tool.inputSchema ?? { type: "object" };
  return {
    name: tool.name,
    server,
    ownName: bareName(tool),
    title: tool.title ?? tool.annotations?.title ?? null,
    description: tool.description ?? "",
    category: declaredCategory(tool) ?? (server === "" ? "general" : server),
    inputSchema,
    parameters: inputSchema,
    outputSchema: tool.outputSchema ?? null,
    observedOutput: observedView(tool.observedOutput),
    annotations: tool.annotations ?? null,
    contract: toolContract(tool).contract,
    contractReport: () => contractReport(tool),
  };
}

function observedView(shape: ToolDescriptor["observedOutput"]): ToolView["observedOutput"] {
  return shape ? { outputs: seenIn(shape), schema: schemaOfShape(shape) } : null;
}

/**
 * The first valid text of `category` in `_meta`, at the top level of the descriptor, or in the contract
 * (`x-orchestration`).
 */
function declaredCategory(tool: ToolDescriptor): string | undefined {
  const contracts = [tool._meta, tool, tool.inputSchema].map((one) => fieldOf(one, "x-orchestration"));
  return [tool._meta, tool, ...contracts].map((one) => fieldOf(one, "category")).find(isCategory);
}

function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isCategory(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_CATEGORY_LENGTH;
}
