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
import type { StepNode } from "../state/engine-state.ts";

/** Up to this many items are called one by one, even when the tool takes batches. */
const MAX_SINGLE_ITEMS = 3;

/**
 * Items per call: `batch.max` of the tool for more than three items, otherwise 1. Where the planned arguments
 * name the batch parameter, every other argument must be the same for all items; an argument that depends on
 * the item rules batches out, and so does a secret that would be part of the batch.
 */
export function batchSize(node: StepNode, itemCount: number, alias: string): number {
  const { batch } = node.tool.contract;
  if (!batch || itemCount <= MAX_SINGLE_ITEMS) return 1;
  const planned = argumentsOfStep(node.step);
  // Where a secret is to be put in must be where the plan wrote it.
  const isMoved = ({ keys: [name] }: SecretPlace): boolean =>
    name === batch.param || !Object.hasOwn(planned, batch.param);
  if (secretPlaces(planned).some(isMoved)) return 1;
  if (!Object.hasOwn(planned, batch.param)) return batch.max;
  const { [batch.param]: _, ...shared } = planned;
  const dependsOnItem = scanReferences(shared).some(({ root }) => root === alias || root === "index");
  return dependsOnItem ? 1 : batch.max;
}

/**
 * The arguments of one call for several items, from the arguments that each would have had alone. With the
 * batch parameter planned, its values form the list (a list of one stands for its element) and the rest is
 * shared. Otherwise each list element is the item's arguments, or their only value where the schema wants no
 * objects.
 */
export function batchArguments(node: StepNode, each: readonly JsonObject[]): JsonObject {
  const param = node.tool.contract.batch?.param ?? "items";
  const isPlanned = each[0] !== undefined && Object.hasOwn(each[0], param);
  if (isPlanned) {
    const list = each.map((one) => {
      const value = one[param] ?? null;
      return Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
    });
    return { ...each[0], [param]: list };
  }
  const wantsScalars = elementType(node, param) !== "object";
  return {
    [param]: each.map((one) => {
      const values = Object.values(one);
      return wantsScalars && values.length === 1 ? (values[0] ?? null) : one;
    }),
  };
}

/**
 * What one item's arguments are for, as {@link batchArguments} puts them into a batch: with the batch
 * parameter planned an element of its list or a list of one, otherwise an element, or the only value of one.
 * Undefined where the tool does not say.
 */
export function batchItemSchema(node: StepNode): JsonObject | undefined {
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

/** JSON type of the list's elements by the tool's input schema; "object" where it does not say. */
function elementType(node: StepNode, param: string): JsonValue {
  const properties = node.tool.descriptor?.inputSchema?.["properties"];
  const list = isJsonObject(properties) ? properties[param] : undefined;
  const elements = isJsonObject(list) ? list["items"] : undefined;
  return (isJsonObject(elements) ? jsonTypesOf(elements["type"])?.[0] : undefined) ?? "object";
}
