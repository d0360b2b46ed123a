import type { JsonObject } from "@planwright/plan";
import type { ToolCall } from "@planwright/tools";

/** Names of the units of a call, read from its arguments: one name, or those of a batch in order. */
export function unitNamesOf({ arguments: args }: Pick<ToolCall, "arguments">): string[] {
  // Only large arguments are bytes, and those of simulated calls are small.
  const { items, unit }: JsonObject = args instanceof Uint8Array ? {} : args;
  const list = Array.isArray(items) ? items : [{ unit: unit ?? null }];
  return list.flatMap((one) => {
    const name = typeof one === "object" && one !== null && !Array.isArray(one) ? one["unit"] : null;
    return typeof name === "string" ? [name] : [];
  });
}
