import {
  argumentsOfStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonTypesOf,
  type SecretPlace,
  scanReferences,
  secretPlaces,
} from "@planwright/plan";
import type { ArgumentsNode } from "../state/arguments.ts";

/** Up to this many items are called one by one, even when the tool accepts batches. */
const MAX_SINGLE_ITEMS = 3;

/**
 * Items per call: `batch.max` of the tool for more than three items, otherwise 1. When the planned arguments
 * contain the batch parameter, every other argument must be the same for all items: an argument that depends
 * on the item excludes batches. A secret that would move into the batch excludes them too.
 */
export function batchSize(
  node: Omit<ArgumentsNode, "dependencies">,
  itemCount: number,
  alias: string,
): number {
  const { batch } = node.tool.contract;
  if (!batch || itemCount <= MAX_SINGLE_ITEMS) return 1;
  const planned = argumentsOfStep(node.step);
  // A secret must be inserted at the path where the plan wrote it.
  const isMoved = ({ keys: [name] }: SecretPlace): boolean =>
    name === batch.param || !Object.hasOwn(planned, batch.param);
  if (secretPlaces(planned).some(isMoved)) return 1;
  if (!Object.hasOwn(planned, batch.param)) return batch.max;
  const { [batch.param]: _, ...shared } = planned;
  const dependsOnItem = scanReferences(shared).some(({ root }) => root === alias || root === "index");
  return dependsOnItem ? 1 : batch.max;
}

/**
 * The arguments of one call for several items, from the arguments of each item. When the plan sets the batch
 * parameter, its values form the list (a list with one element counts as that element) and the other
 * arguments are shared. Otherwise each list element is the arguments of an item, or their only value when the
 * schema does not expect objects.
 */
export function batchArguments(node: ArgumentsNode, argumentsOfEach: readonly JsonObject[]): JsonObject {
  const param = node.tool.contract.batch?.param ?? "items";
  const isPlanned = argumentsOfEach[0] !== undefined && Object.hasOwn(argumentsOfEach[0], param);
  if (isPlanned) {
    const list = argumentsOfEach.map((itemArguments) => {
      const value = itemArguments[param] ?? null;
      return Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
    });
    return { ...argumentsOfEach[0], [param]: list };
  }
  const wantsScalars = elementType(node, param) !== "object";
  return {
    [param]: argumentsOfEach.map((itemArguments) => {
      const values = Object.values(itemArguments);
      return wantsScalars && values.length === 1 ? (values[0] ?? null) : itemArguments;
    }),
  };
}

/**
 * The schema of one item's arguments, as {@link batchArguments} uses them. When the plan sets the batch
 * parameter, its value is an element of the list or a list with one element. Otherwise the arguments are an
 * element, or their only value is one. Undefined when the tool has no input schema.
 */
export function batchItemSchema(node: ArgumentsNode): JsonObject | undefined {
  const schema = node.tool.descriptor?.inputSchema;
  const param = node.tool.contract.batch?.param ?? "items";
  const properties = schema?.["properties"];
  const list = isJsonObject(properties) ? properties[param] : undefined;
  const elements = isJsonObject(list) ? list["items"] : undefined;
  if (!schema || !isJsonObject(properties) || list === undefined || elements === undefined) return schema;
  if (Object.hasOwn(argumentsOfStep(node.step), param))
    return { ...schema, properties: { ...properties, [param]: { anyOf: [list, elements] } } };
  const { $defs, definitions } = schema;
  const item = elementType(node, param) === "object" ? elements : { additionalProperties: elements };
  return {
    ...(isJsonObject(item) ? item : {}),
    ...($defs && { $defs }),
    ...(definitions && { definitions }),
  };
}

/** JSON type of the list's elements in the tool's input schema; "object" when it has none. */
function elementType(node: ArgumentsNode, param: string): JsonValue {
  const properties = node.tool.descriptor?.inputSchema?.["properties"];
  const list = isJsonObject(properties) ? properties[param] : undefined;
  const elements = isJsonObject(list) ? list["items"] : undefined;
  return (isJsonObject(elements) ? jsonTypesOf(elements["type"])?.[0] : undefined) ?? "object";
}
