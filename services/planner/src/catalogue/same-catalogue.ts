import { schemaOfShape, seenIn, type ToolDescriptor } from "@planwright/plan";

/** Most tenants whose last catalogue is cached; each may have its own shapes of outputs. */
const MAX_TENANTS = 16;
/** Above this number, further outputs of the same shape do not change the catalogue. */
const MANY_OUTPUTS = 3;

/**
 * Returns the same array while nothing in a tenant's catalogue has changed, so that data derived from that
 * array, such as a search index, is made once and not for every request. The count of a field is not a
 * change.
 */
export function createSameCatalogue(): (tools: ToolDescriptor[], tenant?: string) => ToolDescriptor[] {
  const kept = new Map<string, { tools: ToolDescriptor[]; text: string }>();
  return (tools, tenant = "") => {
    const text = JSON.stringify(tools.map(comparable));
    const before = kept.get(tenant);
    const same = before?.text === text ? before : { tools, text };
    kept.delete(tenant);
    kept.set(tenant, same);
    const [oldest] = kept.keys();
    if (kept.size > MAX_TENANTS && oldest !== undefined) kept.delete(oldest);
    return same.tools;
  };
}

function comparable({ observedOutput, ...tool }: ToolDescriptor): unknown {
  if (!observedOutput) return tool;
  const schema = JSON.stringify(schemaOfShape(observedOutput), (key, value) =>
    key === "x-seen" ? undefined : value,
  );
  return [tool, Math.min(seenIn(observedOutput), MANY_OUTPUTS), schema];
}
