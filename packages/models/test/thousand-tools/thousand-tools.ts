import { type JsonObject, nameTools, type ToolDescriptor } from "@planwright/plan";
import { DOMAINS_1 } from "./domains-1.ts";
import { DOMAINS_2 } from "./domains-2.ts";
import { DOMAINS_3 } from "./domains-3.ts";

interface Domain {
  server: string;
  place: string;
  style: string;
}

/**
 * A catalogue of 1,000 tools: 40 servers with 25 tools each, always the same. Lines of the data: `# server |
 * place | camel or snake` opens a domain; `thing: what it is | fields` means five tools that create, read,
 * list, change and delete the thing; `! name: description | fields | tools` is one tool, whose contract
 * requires the tools named last. A field is `name` or `name:type`, with `?` after it when it is optional.
 */
export function thousandTools(): ToolDescriptor[] {
  const tools: ToolDescriptor[] = [];
  let domain: Domain = { server: "", place: "", style: "" };
  for (const line of `${DOMAINS_1}${DOMAINS_2}${DOMAINS_3}`.split("\n").filter(Boolean)) {
    if (line.startsWith("#")) domain = domainOf(line.slice(1));
    else if (line.startsWith("!")) tools.push(specialTool(line.slice(1), domain));
    else tools.push(...toolsOfThing(line, domain));
  }
  return nameTools(tools);
}

const parts = (text: string, separator: string) => text.split(separator).map((part) => part.trim());

function domainOf(line: string): Domain {
  const [server = "", place = "", style = ""] = parts(line, "|");
  return { server, place, style };
}

function specialTool(line: string, { server }: Domain): ToolDescriptor {
  const [head = "", fields = "", before = ""] = parts(line, "|");
  const [name = "", description = ""] = parts(head, ": ");
  const plain = { name, server, description, inputSchema: schemaOf(fields) };
  if (before === "") return plain;
  const required = parts(before, ",").map((tool) => ({ tool }));
  return { ...plain, "x-orchestration": { mode: "dependent", depends_on: required } };
}

function toolsOfThing(line: string, { server, place, style }: Domain): ToolDescriptor[] {
  const [head = "", fields = ""] = parts(line, "|");
  const [thing = "", meaning = ""] = parts(head, ": ");
  const isCamel = style === "camel";
  const spoken = thing.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " ");
  const many = spoken.endsWith("y")
    ? `${spoken.slice(0, -1)}ies`
    : spoken.endsWith("s")
      ? spoken
      : `${spoken}s`;
  const joined = (verb: string, words: string) =>
    isCamel
      ? `${verb}${words.replace(/(^| )(\w)/g, (_, _space, letter: string) => letter.toUpperCase())}`
      : `${verb}_${words.replaceAll(" ", "_")}`;
  const id = isCamel ? `${thing}Id` : `${thing}_id`;
  const optional = parts(fields, ",").map((field) => (field.endsWith("?") ? field : `${field}?`));
  const output = schemaOf(["id", ...parts(fields, ",")].join(","));
  const tool = (
    name: string,
    description: string,
    input: string,
    outputSchema?: JsonObject,
  ): ToolDescriptor => ({
    name,
    server,
    description,
    inputSchema: schemaOf(input),
    ...(outputSchema ? { outputSchema } : {}),
  });
  return [
    tool(
      joined("create", spoken),
      `Creates a ${spoken} in ${place}: ${meaning}. Returns it with its id.`,
      fields,
      output,
    ),
    tool(joined("get", spoken), `Reads one ${spoken} of ${place} by its id.`, id, output),
    tool(
      joined("list", many),
      `Lists ${many} of ${place}: ${meaning}. Newest first.`,
      "limit:integer?, search?",
      listOf(output),
    ),
    tool(
      joined("update", spoken),
      `Changes fields of a ${spoken} in ${place}.`,
      [id, ...optional].join(","),
      output,
    ),
    tool(joined("delete", spoken), `Removes a ${spoken} from ${place} for good.`, id),
  ];
}

const listOf = (items: JsonObject): JsonObject => ({
  type: "object",
  properties: { items: { type: "array", items } },
});

function schemaOf(fields: string): JsonObject {
  const all = parts(fields, ",")
    .filter((field) => field !== "")
    .map((field) => {
      const [name = "", type = "string"] = field.replace("?", "").split(":");
      return { name, type, isRequired: !field.endsWith("?") };
    });
  return {
    type: "object",
    properties: Object.fromEntries(all.map(({ name, type }) => [name, { type }])),
    required: all.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}
