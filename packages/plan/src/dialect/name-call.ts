import type { DiagnosticCollector, Where } from "../diagnostics/diagnostic-collector.ts";
import { StepIdSchema } from "../document/ids.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import { LABEL_FIELDS } from "./call-fields.ts";
import { at, type ReadFields, type UnknownField } from "./read-fields.ts";

type Field = { readonly value: JsonValue; readonly name: string };

/** Context for reading labels. */
interface Naming {
  readonly catalogue: Catalogue | undefined;
  readonly diagnostics: DiagnosticCollector;
  readonly where: Where;
  /** The call is in another field, so no label can name its tool. */
  readonly hasCall?: boolean;
}

/**
 * Takes the tool of a call from one of its labels, when no other field names it: `{name, parameters}`,
 * `{action, action_input}`. With a catalogue a label that is a tool wins over one that is not. Other labels
 * stay ordinary fields.
 */
export function withTool(
  { fields, unknown }: ReadFields,
  { catalogue, diagnostics, where, hasCall = false }: Naming,
): ReadFields {
  const labels = Object.keys(LABEL_FIELDS).flatMap((name) => {
    const field = fields.get(name);
    return field && !isJsonObject(field.value) ? [[name, field] as const] : [];
  });
  const own = fields.get("tool");
  const named = own ?? (hasCall ? undefined : chosen(labels, catalogue));
  const others = labels.filter(([, field]) => field !== named);
  const rest = new Map([...fields].filter(([name]) => !labels.some(([label]) => label === name)));
  if (named) rest.set("tool", named);
  const left: UnknownField[] = [];
  for (const [, field] of others) {
    if (named && field.value === named.value) continue;
    if (!named || !isTool(field, catalogue)) left.push(field);
    else {
      const message = `${named.name} and ${field.name} name two tools; a step calls one`;
      diagnostics.add("FIELD_CONFLICT", at(where, field.name), { message });
    }
  }
  return { fields: rest, unknown: [...unknown, ...left] };
}

/** The label that names a known tool; otherwise, or without a catalogue, the first one. */
function chosen(
  labels: readonly (readonly [string, Field])[],
  catalogue: Catalogue | undefined,
): Field | undefined {
  const known = labels.find(([, field]) => isTool(field, catalogue));
  return (known ?? labels[0])?.[1];
}

function isTool({ value }: Field, catalogue: Catalogue | undefined): boolean {
  return typeof value === "string" && catalogue?.find(value) !== undefined;
}

/**
 * Takes the id of a step without one from its call, or from `step: "find"`; a number or a sentence there is
 * not an id.
 */
export function withStepId({ fields, unknown }: ReadFields): ReadFields {
  const rest = new Map(fields);
  const left = [...unknown];
  for (const name of ["callId", "step"]) {
    const field = rest.get(name);
    rest.delete(name);
    if (!field) continue;
    const isId = name === "callId" || StepIdSchema.safeParse(field.value).success;
    if (isId && !rest.has("id")) rest.set("id", field);
    else if (field.value !== rest.get("id")?.value) left.push(field);
  }
  return { fields: rest, unknown: left };
}
