import { READ_RUN } from "@planwright/client";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  JsonValueSchema,
  parseExactJson,
} from "@planwright/plan";
import { checkAnswer } from "@planwright/reading";
import { InvalidArgumentError } from "commander";
import { LIST_TOOLS } from "../api/tools.ts";
import type { CommandContext } from "./command-context.ts";

/** One `--set step.argument=value` as it was typed. */
export interface SetArgument {
  stepId: string;
  name: string;
  text: string;
}

/** Adds one `--set` to those before it. @throws {InvalidArgumentError} */
export function collectSet(typed: string, before: readonly SetArgument[] | undefined): SetArgument[] {
  const [, stepId, name, text] = /^([A-Za-z][A-Za-z0-9_-]{0,63})\.([^=]+)=(.*)$/s.exec(typed) ?? [];
  if (stepId === undefined || name === undefined || text === undefined) {
    throw new InvalidArgumentError("Give step.argument=value, such as createBlog.title=Hello");
  }
  return [...(before ?? []), { stepId, name, text }];
}

/**
 * The arguments as the API takes them: a text that is JSON and fits the tool's schema becomes that value; any
 * other text stays text.
 */
export async function toChanges(
  { client }: CommandContext,
  requestId: string,
  sets: readonly SetArgument[],
): Promise<{ stepId: string; set: JsonObject }[]> {
  const [{ plan }, { tools }] = await Promise.all([
    client.readRequest(READ_RUN, requestId),
    client.execute(LIST_TOOLS, {}),
  ]);
  const changes = new Map<string, JsonObject>();
  for (const { stepId, name, text } of sets) {
    const tool = plan?.steps.find(({ id }) => id === stepId)?.tool;
    const inputSchema = tools.find((one) => one.name === tool)?.inputSchema ?? null;
    const value = argumentValue(text, {
      stepId,
      name,
      tool: tool ?? name,
      schema: schemaOf(inputSchema, name),
    });
    changes.set(stepId, { ...changes.get(stepId), [name]: value });
  }
  return [...changes].map(([stepId, set]) => ({ stepId, set }));
}

/**
 * The value of an argument for the text that the user typed.
 * @param schema - the argument's schema; null when the tool declares none
 */
export function argumentValue(
  text: string,
  { stepId, name, tool, schema }: { stepId: string; name: string; tool: string; schema: JsonObject | null },
): JsonValue {
  const value = jsonOf(text);
  if (value === undefined) return text;
  return checkAnswer({ stepId, tool, keys: [name], schema }, value).ok ? value : text;
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JsonValueSchema.parse(parseExactJson(text));
  } catch {
    return undefined; // Not JSON: most values are plain text.
  }
}

/** The schema of one argument, with the tool's definitions, to which it may refer. */
function schemaOf(inputSchema: JsonValue, name: string): JsonObject | null {
  if (!isJsonObject(inputSchema) || !isJsonObject(inputSchema["properties"])) return null;
  const { $defs, definitions, properties } = inputSchema;
  const schema = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isJsonObject(schema)) return null;
  return {
    ...(isJsonObject($defs) ? { $defs } : {}),
    ...(isJsonObject(definitions) ? { definitions } : {}),
    ...schema,
  };
}
