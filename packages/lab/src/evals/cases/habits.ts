import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";

/** Ways in which models write the same plan. Cases are written in the first one. */
export const HABITS = ["short", "strict", "in do", "curly"] as const;
export type Habit = (typeof HABITS)[number];

/** The text of an answer in a habit. An answer that is not a plan is not changed. */
export function inHabit(answer: JsonValue, habit: Habit): string {
  if (!isJsonObject(answer) || !Array.isArray(answer["steps"])) return JSON.stringify(answer);
  const { steps, ...rest } = answer;
  const calls = steps.filter(isJsonObject);
  switch (habit) {
    case "short":
      return JSON.stringify(answer);
    case "strict":
      return JSON.stringify({ steps: calls.map(strict), ...strictRest(rest) });
    case "in do":
      return `\`\`\`json\n${JSON.stringify({ steps: calls.map(inDo), ...rest }, null, 2)}\n\`\`\``;
    case "curly":
      return `Here is the plan:\n${curly(JSON.stringify({ tools: calls.map(chained), ...rest }))}`;
  }
}

const textOf = (value: JsonValue | undefined) =>
  value === undefined || typeof value === "string" ? (value ?? null) : JSON.stringify(value);

/** The call with every field of the strict form; unused fields are null. */
function strict({ tool, id, arguments: args, dependsOn, forEach, when }: JsonObject): JsonObject {
  return {
    id: id ?? tool ?? null,
    tool: tool ?? null,
    arguments: JSON.stringify(args ?? {}),
    dependsOn: dependsOn ?? [],
    forEach: textOf(forEach),
    when: textOf(when),
  };
}

const strictRest = ({ outputs = null, missing = null, impossible = null }: JsonObject): JsonObject => ({
  outputs,
  missing,
  impossible,
});

/** The call inside the forEach, whose item has a different name. */
function inDo({ tool, arguments: args, forEach, ...rest }: JsonObject): JsonObject {
  if (typeof forEach !== "string")
    return { tool: tool ?? null, arguments: args ?? {}, ...rest, ...(forEach && { forEach }) };
  const renamed = JSON.stringify(args ?? {}).replaceAll("<<item", "<<entry");
  const call = { tool: tool ?? null, arguments: JSON.parse(renamed) as JsonObject };
  return { id: tool ?? null, ...rest, forEach: { items: forEach, as: "entry", do: call } };
}

function chained({ tool, arguments: args, ...rest }: JsonObject): JsonObject {
  return { ...rest, name: tool ?? null, parameters: args ?? {} };
}

/** References in the notation of tool chaining. */
const curly = (text: string) => text.replaceAll("<<", "{{").replaceAll(">>", "}}");
