import { isForEachStep, type JsonValue, printReference, type Step, scanReferences } from "@planwright/plan";

/**
 * All arguments of a step as `path = value`, leaf by leaf. `nameOf` renames the steps that references begin
 * with. The item of a forEach always has the same name.
 */
export function stepPairs(step: Step, nameOf: (stepId: string) => string): string[] {
  if (!isForEachStep(step)) return leaves(step.arguments, "", nameOf);
  const { as: alias, items, do: call } = step.forEach;
  const inside = (root: string) => (root === alias ? "(item)" : root === "index" ? "(index)" : nameOf(root));
  return [...leaves(call.arguments, "", inside), ...leaves(items, "(items)", nameOf)];
}

function leaves(value: JsonValue, path: string, nameOf: (stepId: string) => string): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${path} = []`];
    return value.flatMap((item, index) => leaves(item, `${path}[${index}]`, nameOf));
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`, nameOf));
  }
  const leaf = typeof value === "string" ? renameReferences(value, nameOf) : value;
  return [`${path} = ${JSON.stringify(leaf)}`];
}

/** The text with the first name of each reference replaced, in the canonical spelling. */
function renameReferences(text: string, nameOf: (stepId: string) => string): string {
  let renamed = "";
  let end = 0;
  for (const reference of scanReferences(text)) {
    renamed += text.slice(end, reference.start) + printReference(nameOf(reference.root), reference.path);
    end = reference.end;
  }
  return renamed + text.slice(end);
}
