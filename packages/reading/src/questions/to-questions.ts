import {
  type AskedParameter,
  findTool,
  type GapValue,
  isJsonObject,
  isJsonType,
  type JsonObject,
  MAX_QUESTIONS,
  type OpenQuestion,
  printPlace,
  type ToolDescriptor,
} from "@planwright/plan";
import { cut, schemaAtPath, toSegment } from "@planwright/plan/internal";
import { formOf } from "./read-answer.ts";

/** An argument of a drafted step without a value. */
export interface Gap extends Pick<GapValue, "stepId" | "keys"> {
  readonly tool: string;
  /** Text of the request for this argument that cannot be the value, such as a name instead of an address. */
  readonly said?: string | null | undefined;
  /** The request's name for the object of the step, when several steps use the tool. */
  readonly object?: string | null | undefined;
  /** The question in the model's words. */
  readonly question?: string | undefined;
  /** The required form of the value, in words; default: from the schema. */
  readonly form?: string | undefined;
}

/**
 * The questions about gaps of a draft, at most 20, numbered after the earlier questions of the request. Pure.
 * @param asked - number of earlier questions of the request
 */
export function toQuestions(
  gaps: readonly Gap[],
  { tools, asked }: { tools: readonly ToolDescriptor[]; asked: number },
): OpenQuestion[] {
  return gaps.slice(0, MAX_QUESTIONS).map((gap, index) => {
    const about = askedParameter(gap, tools);
    return { id: `q${asked + index + 1}`, question: cut(gap.question ?? wordsOf(gap, about), 900), about };
  });
}

/** Free questions of a model that name no argument. */
export function toFreeQuestions(questions: readonly string[], asked: number): OpenQuestion[] {
  return questions
    .slice(0, MAX_QUESTIONS)
    .map((question, index) => ({ id: `q${asked + index + 1}`, question: cut(question, 900), about: null }));
}

function askedParameter({ stepId, tool, keys }: Gap, tools: readonly ToolDescriptor[]): AskedParameter {
  const inputSchema = findTool(tools, tool)?.inputSchema;
  return { stepId, tool, keys: [...keys], schema: inputSchema ? schemaOf(inputSchema, keys) : null };
}

/** Larger schemas of a parameter are not stored with a question. */
const MAX_SCHEMA_LENGTH = 8_192;

function schemaOf(inputSchema: JsonObject, keys: readonly (string | number)[]): JsonObject | null {
  const found = schemaAtPath(inputSchema, keys.map(toSegment));
  if (found.type !== "known") return null;
  const schemas = found.schemas.filter(isJsonObject);
  const [only] = schemas;
  if (!only || schemas.length !== found.schemas.length) return null;
  const one: JsonObject = schemas.length === 1 ? withForm(only, keys.at(-1)) : { anyOf: schemas };
  const text = JSON.stringify(one);
  const { $defs, definitions } = inputSchema;
  const complete: JsonObject = text.includes('"$ref"')
    ? { ...one, ...($defs && { $defs }), ...(definitions && { definitions }) }
    : one;
  return JSON.stringify(complete).length > MAX_SCHEMA_LENGTH ? null : complete;
}

/** The schema, with the format of an address for a text named "email" without a format. */
function withForm(schema: JsonObject, key: string | number | undefined): JsonObject {
  const isText = schema["type"] === "string" && isJsonType(schema["type"]);
  const isFree = ["format", "pattern", "enum", "const"].every((name) => !Object.hasOwn(schema, name));
  return isText && isFree && /(?:^|[a-z_-])e-?mail(?:[_-]?address)?$/i.test(String(key ?? ""))
    ? { ...schema, format: "email" }
    : schema;
}

function wordsOf({ tool, keys, said, object, form }: Gap, { schema }: AskedParameter): string {
  const description = schema?.["description"];
  const meaning = typeof description === "string" ? cut(description.replace(/[.\s]+$/, ""), 300) : "";
  const whose = object ? ` for ${JSON.stringify(cut(object, 80))}` : "";
  const misfit = said ? ` ${JSON.stringify(cut(said, 80))} cannot be used.` : "";
  const about = meaning === "" ? "" : ` (${meaning})`;
  return `What should "${printPlace(keys)}"${about} of ${tool}${whose} be?${misfit} Give ${form ?? formOf(schema)}.`;
}
