import type { JsonObject } from "@planwright/plan";
import type { ToolCall } from "@planwright/tools";

/** Only large arguments are bytes, and those of simulated calls are small. */
function objectOf({ arguments: args }: Pick<ToolCall, "arguments">): JsonObject {
  return args instanceof Uint8Array ? {} : args;
}

/** The arguments of each unit of a call, as text, in the order of their names. */
export function argumentsOfEach(call: Pick<ToolCall, "arguments">): string[] {
  const args = objectOf(call);
  const { items } = args;
  return (Array.isArray(items) ? items : [args]).map((one) => JSON.stringify(one));
}

/** Names of the units of a call, read from its arguments: one name, or those of a batch in order. */
export function unitNamesOf(call: Pick<ToolCall, "arguments">): string[] {
  const { items, unit } = objectOf(call);
  const list = Array.isArray(items) ? items : [{ unit: unit ?? null }];
  return list.flatMap((one) => {
    const name = typeof one === "object" && one !== null && !Array.isArray(one) ? one["unit"] : null;
    return typeof name === "string" ? [name] : [];
  });
}
