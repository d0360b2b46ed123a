import { z } from "zod";
import { ApiSettingsSchema } from "../../../../services/api/src/env.ts";
import { SettingsSchema } from "../../../../services/blog-tools/src/env.ts";
import { ExecutorSettingsSchema } from "../../../../services/executor/src/env.ts";
import { PlannerSettingsSchema } from "../../../../services/planner/src/env.ts";
import { PlanwrightSettingsSchema } from "../../../../services/planwright/src/env.ts";

/** A table in a README, whose last column says what a setting means. */
interface MeaningTable {
  file: string;
  section: string;
}

/** The settings of one process: their schema, and the READMEs that say what they mean. */
export interface SettingsOfRole {
  title: string;
  schema: z.ZodObject;
  meanings: readonly [MeaningTable, ...MeaningTable[]];
}

const inReadmeOf = (service: string): MeaningTable => ({
  file: `services/${service}/README.md`,
  section: "Settings",
});

/** All processes that read settings, in the order of the page. */
export const SETTINGS: readonly SettingsOfRole[] = [
  { title: "API", schema: ApiSettingsSchema, meanings: [inReadmeOf("api")] },
  {
    title: "Planner",
    schema: PlannerSettingsSchema,
    meanings: [inReadmeOf("planner"), { file: "packages/models/README.md", section: "Models" }],
  },
  { title: "Executor", schema: ExecutorSettingsSchema, meanings: [inReadmeOf("executor")] },
  { title: "One process", schema: PlanwrightSettingsSchema, meanings: [inReadmeOf("planwright")] },
  { title: "Blog tools", schema: SettingsSchema, meanings: [inReadmeOf("blog-tools")] },
];

/** What the page is made from. */
export interface SettingsPageParts {
  /** The text of a file of the repository. */
  read: (file: string) => string;
  /** The same Markdown with links of the site. @param file - where the text is */
  relink: (text: string, file: string) => string;
}

/**
 * The settings of all processes as one page: names, defaults and values from the schemas that read the
 * environment, meanings from the tables of the READMEs.
 * @throws {TypeError} for a setting without a row in a README
 */
export function settingsPage(parts: SettingsPageParts): string {
  return [
    "# Settings",
    "",
    "All settings of all processes. A process reads its settings from environment variables when it starts, and ends with the names of those that cannot work. An empty variable is one that is not set.",
    "",
    "A process with [several roles](/services/planwright) reads the settings of each role from the same environment. The [command line](/packages/cli#settings) and [`npm start`](/packages/local#settings) have settings of their own.",
    ...SETTINGS.flatMap((role) => ["", `## ${role.title}`, "", ...tableOf(role, parts)]),
    "",
  ].join("\n");
}

function tableOf({ title, schema, meanings }: SettingsOfRole, { read, relink }: SettingsPageParts): string[] {
  const documented = meanings.flatMap(({ file, section }) =>
    rowsOf(read(file), section).map((row) => ({ ...row, meaning: relink(row.meaning, file) })),
  );
  const names = Object.keys(schema.shape);
  const rows = names.map((name) => {
    const row = documented.find((each) => each.names.includes(name));
    if (!row) throw new TypeError(`${title}: no README says what ${name} means`);
    const field = schema.shape[name];
    const meaning = [row.meaning, valuesOf(field)].filter(Boolean).join(". ");
    return [`\`${name}\``, defaultOf(field) ?? row.default, meaning];
  });
  // Groups of variables that the process hands on, such as those for traces.
  const groups = documented
    .filter((row) => !row.names.some((name) => names.includes(name)))
    .map((row) => [row.names.map((name) => `\`${name}\``).join(", "), row.default, row.meaning]);
  return ["| setting | default | meaning |", "|---|---|---|", ...[...rows, ...groups].map(toRow)];
}

const toRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** The rows of the first table of a section that name settings. */
function rowsOf(text: string, section: string): { names: string[]; default: string; meaning: string }[] {
  const [, body = ""] =
    new RegExp(`^## ${section}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(text) ?? [];
  const [head = [], , ...rows] = (/(?:^\|.*\n)+/m.exec(body)?.[0] ?? "").split("\n").map(cellsOf);
  const defaultAt = head.indexOf("default");
  return rows.flatMap((cells) => {
    const names = cells[0]?.match(/[A-Z][A-Z0-9_]*(?:\.\.\.)?/g) ?? [];
    return names.length === 0
      ? []
      : [{ names, default: cells[defaultAt] ?? "", meaning: cells.at(-1) ?? "" }];
  });
}

/** The cells of a row of a Markdown table. */
const cellsOf = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** "required", or the default; undefined for an optional setting without one. */
function defaultOf(field: z.core.$ZodType | undefined): string | undefined {
  const parsed = z.safeParse(field ?? z.unknown(), undefined);
  if (!parsed.success) return "required";
  if (parsed.data === undefined) return undefined;
  const text = typeof parsed.data === "string" ? parsed.data : JSON.stringify(parsed.data);
  return text === "" || text === "[]" ? "none" : `\`${text}\``;
}

/** The words that may be set, and the range of a number, from the schema. */
function valuesOf(field: z.core.$ZodType | undefined): string {
  const schema = z.toJSONSchema(field ?? z.unknown(), { unrepresentable: "any" });
  const values = (schema.anyOf ?? [schema]).flatMap((one) => {
    if (typeof one === "boolean") return [];
    if (one.const !== undefined) return [`\`${String(one.const)}\``];
    if (one.enum) return one.enum.map((word) => `\`${String(word)}\``);
    return one.maximum === undefined ? [] : [`${one.minimum} to ${one.maximum}`];
  });
  return values.length === 0 ? "" : `Values: ${values.join(", ")}`;
}
