/**
 * The pages of the documentation site. A page is a document of the repository, sections of one, or generated from what
 * the code declares; no text is written for the site alone.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CodedError } from "@planwright/plan";
import { anchorOf } from "@planwright/testing";
import {
  buildSchema,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  OperationTypeNode,
} from "graphql";
import { z } from "zod";
import { ApiSettingsSchema } from "../../../../services/api/src/env.ts";
import { OPERATIONS } from "../../../../services/api/src/graphql/operations.ts";
import { SDL } from "../../../../services/api/src/graphql/sdl.ts";
import { SettingsSchema } from "../../../../services/blog-tools/src/env.ts";
import { ExecutorSettingsSchema } from "../../../../services/executor/src/env.ts";
import { PlannerSettingsSchema } from "../../../../services/planner/src/env.ts";
import { PlanwrightSettingsSchema } from "../../../../services/planwright/src/env.ts";

/** A page whose text is a document. Without `sections` it has all sections that no other page takes. */
interface DocumentSource {
  label: string;
  file: string;
  /** Default: follows from the file. */
  path?: string;
  sections?: readonly string[];
}

/** A page that is generated. */
interface MadeSource {
  label: string;
  path: string;
  make: (parts: SettingsPageParts) => string;
}

type Source = DocumentSource | MadeSource;

const guide = (label: string, name: string): Source => ({ label, file: `docs/guides/${name}.md` });
const service = (label: string, name: string): Source => ({ label, file: `services/${name}/README.md` });
const packageOf = (name: string, label = name): Source => ({ label, file: `packages/${name}/README.md` });
const DEPLOY = "docs/guides/deploy.md";

/** The navigation: groups of pages, as a reader needs them. */
const NAVIGATION: readonly [title: string, pages: readonly Source[]][] = [
  [
    "Begin",
    [
      { label: "Overview", file: "README.md", path: "index" },
      guide("Your first plan", "first-plan"),
      guide("Write a tool", "write-a-tool"),
      guide("Test your plans", "testing-plans"),
      guide("Use a real model", "real-model"),
      guide("Approvals", "approvals"),
      service("The console", "console"),
      packageOf("cli", "The command line"),
      { label: "Older systems", file: "docs/older-systems.md" },
    ],
  ],
  [
    "Operate",
    [
      { label: "Deploy", file: DEPLOY },
      { label: "Upgrade", file: DEPLOY, path: "guides/upgrade", sections: ["Upgrade"] },
      {
        label: "Back up and restore",
        file: DEPLOY,
        path: "guides/backup",
        sections: ["Back up and restore", "Storage"],
      },
      { label: "What to watch", file: DEPLOY, path: "guides/watch", sections: ["What to watch"] },
      guide("Find the cause and the fix", "debug"),
      guide("Security", "security"),
      guide("Figures", "figures"),
      { label: "Guarantees", file: "docs/guarantees.md" },
    ],
  ],
  [
    "Reference",
    [
      { label: "Settings", path: "settings", make: settingsPage },
      { label: "GraphQL operations", path: "graphql/operations", make: operationsPage },
      { label: "GraphQL types", path: "graphql/types", make: typesPage },
      service("The API", "api"),
      packageOf("plan", "Plans"),
      packageOf("tools", "Tool servers and contracts"),
      packageOf("models", "Models"),
      service("The planner", "planner"),
      service("The executor", "executor"),
      service("All in one process", "planwright"),
      service("The sample tools", "blog-tools"),
    ],
  ],
  [
    "Libraries",
    [
      packageOf("create-planwright"),
      packageOf("tool-kit"),
      packageOf("test-kit"),
      packageOf("client"),
      packageOf("engine"),
    ],
  ],
  [
    "How it is built",
    [
      { label: "Architecture", file: "docs/architecture.md" },
      { label: "Contributing", file: "docs/contributing.md" },
      ...["store", "queue", "reading", "offline", "runtime", "local", "testing", "lab"].map((name) =>
        packageOf(name),
      ),
    ],
  ],
];

/** One page, as the site generator gets it. */
export interface SitePage {
  /** Address below the base, without its ending, such as "guides/deploy". */
  path: string;
  /** Its name in the navigation. */
  label: string;
  /** The first sentence of its text. */
  description: string;
  /** Markdown with links of the site. */
  text: string;
}

/** All that the site has. */
export interface Site {
  version: string;
  groups: { title: string; pages: SitePage[] }[];
  /** Images that pages show: files of the repository, which the site has in its folder `images`. */
  images: string[];
}

/** Links of documents lead nowhere. */
export class DeadLinksError extends CodedError<{ links: string[] }> {
  readonly code = "DEAD_LINKS";
  readonly retryable = false;
  constructor(links: string[]) {
    super(`These links lead nowhere:\n${links.map((link) => `  ${link}`).join("\n")}`, { links });
  }
}

/**
 * Reads all pages.
 * @param root - folder of the repository
 * @param repository - address of the repository, to which links outside of the site lead; without it such links are
 *   plain text. Default: `repository` of the root's package.json
 * @throws {DeadLinksError}
 */
export function readSite(root: string, repository = repositoryOf(root)): Site {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const sources = NAVIGATION.flatMap(([, pages]) => pages);
  const drafts = new Map(
    sources.flatMap((one) => ("file" in one ? [[one, draftOf(one, sources, read)]] : [])),
  );
  const places = placesOf(drafts);
  const images = new Set<string>();
  const dead: string[] = [];

  /** What a link to a file of the repository is on the site; undefined for plain text. */
  function targetOf(link: string, from: string): string | undefined {
    const [path = "", anchor = ""] = link.split("#");
    const file = path === "" ? from : join(dirname(from), path).replace(/\/$/, "");
    const place = [file, `${file}/README.md`].map((name) => places.get(`${name}#${anchor}`)).find(Boolean);
    if (place) return place;
    const isKnown = existsSync(join(root, file)) && (anchor === "" || !file.endsWith(".md"));
    if (!isKnown) dead.push(`${from}: ${link}`);
    if (file.endsWith(".png")) {
      images.add(file);
      return `/images/${file.slice(file.lastIndexOf("/") + 1)}`;
    }
    if (!isKnown || repository === undefined) return undefined;
    return `${repository}/${statSync(join(root, file)).isDirectory() ? "tree" : "blob"}/HEAD/${file}`;
  }

  function relink(text: string, from: string): string {
    return mapProse(text, (prose) =>
      prose
        .replaceAll(/<!--[\s\S]*?-->\n?/g, "")
        .replaceAll(LINK_OR_CODE, (whole: string, mark?: string, words?: string, link?: string) => {
          if (link === undefined || /^[a-z]+:/.test(link)) return whole;
          const target = targetOf(link, from);
          return target === undefined ? (words ?? "") : `${mark}[${words}](${target})`;
        }),
    );
  }

  const groups = NAVIGATION.map(([title, pages]) => ({
    title,
    pages: pages.map((one): SitePage => {
      const text = "make" in one ? one.make({ read, relink }) : relink(drafts.get(one) ?? "", one.file);
      return { path: pathOf(one), label: one.label, description: firstSentence(text), text };
    }),
  }));
  if (dead.length > 0) throw new DeadLinksError(dead);
  const { version } = JSON.parse(read("package.json"));
  return { version, groups, images: [...images] };
}

/** A link or an image, with its words, or code, which stays as it is. */
const LINK_OR_CODE = /`[^`]*`|(!?)\[((?:`[^`]*`|[^[\]`])*)\]\(([^()\s]+)\)/g;

/** The address of the repository on the web, from the form that npm allows; undefined without one. */
function repositoryOf(root: string): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const url: unknown = repository?.url ?? repository;
  return typeof url === "string" ? url.replace(/^git\+/, "").replace(/\.git$/, "") : undefined;
}

function pathOf(source: Source): string {
  return (
    source.path ??
    ("file" in source ? source.file.replace(/^docs\//, "").replace(/(\/README)?\.md$/, "") : "")
  );
}

/** Replaces the text of a document that is not in a block of code. */
function mapProse(text: string, change: (prose: string) => string): string {
  const parts = text.split(/(^```[\s\S]*?^```$)/m);
  return parts.map((part, index) => (index % 2 === 0 ? change(part) : part)).join("");
}

/** The Markdown of a page, with the links of its document. A page of sections begins with the title of the first. */
function draftOf(source: DocumentSource, all: readonly Source[], read: (file: string) => string): string {
  const [preamble = "", ...sections] = read(source.file).split(/^(?=## )/m);
  const titleOf = (section: string): string => section.slice(3, section.indexOf("\n"));
  if (source.sections) {
    const [first = "", ...others] = source.sections.map((title) => {
      const found = sections.find((section) => titleOf(section) === title);
      if (found === undefined) throw new DeadLinksError([`${source.file} has no section "${title}"`]);
      return found;
    });
    const raised = mapProse(first, (prose) => prose.replaceAll(/^#(?=#+ )/gm, ""));
    return [raised, ...others].join("");
  }
  const taken = all.flatMap((one) => ("file" in one && one.file === source.file ? (one.sections ?? []) : []));
  return [preamble, ...sections.filter((section) => !taken.includes(titleOf(section)))].join("");
}

/** The address on the site of every document, and of every title in it: "file#anchor" to "/path#anchor". */
function placesOf(drafts: ReadonlyMap<DocumentSource, string>): Map<string, string> {
  const places = new Map<string, string>();
  for (const [source, text] of drafts) {
    const path = `/${pathOf(source)}`.replace(/\/index$/, "/");
    if (!source.sections) places.set(`${source.file}#`, path);
    mapProse(text, (prose) => {
      for (const [, title = ""] of prose.matchAll(/^#+ (.*)$/gm)) {
        const place = `${source.file}#${anchorOf(title)}`;
        if (!places.has(place)) places.set(place, `${path}#${anchorOf(title)}`);
      }
      return prose;
    });
  }
  return places;
}

/** The first sentence of the first paragraph, without marks. */
function firstSentence(text: string): string {
  const paragraph = /^(?![#|`\s-])(.+(?:\n.+)*)/m.exec(text)?.[1] ?? "";
  const words = paragraph.replaceAll(LINK_OR_CODE, (whole, _mark, inner?: string) => inner ?? whole);
  const line = words.replaceAll(/[`*]/g, "").replaceAll(/\s+/g, " ");
  return (/^.*?\.(?= |$)/.exec(line)?.[0] ?? line).replace(/:$/, ".");
}

/** The index for language models (llmstxt.org): one line a page, with links that work under any base. */
export function llmsTxt({ version, groups }: Site): string {
  const summary = groups[0]?.pages[0]?.description ?? "";
  const parts = groups.map(({ title, pages }) => {
    const lines = pages.map(({ path, label, description }) => `- [${label}](${path}.html): ${description}`);
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return [
    `# Planwright ${version}\n\n> ${summary} All text of these pages is in [llms-full.txt](llms-full.txt).\n`,
    ...parts,
  ].join("\n");
}

/** The text of all pages, each with its address. */
export function llmsFullTxt({ groups }: Site): string {
  return groups
    .flatMap(({ pages }) => pages)
    .map(({ path, text }) => `<!-- ${path}.html -->\n\n${text.trim()}\n`)
    .join("\n");
}

/** A table in a README, whose last column says what a setting means. */
interface MeaningTable {
  file: string;
  section: string;
}

/** The settings of one process: their schema, and the READMEs that say what they mean. */
interface SettingsOfRole {
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
interface SettingsPageParts {
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
function settingsPage(parts: SettingsPageParts): string {
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

/** The schema of the API, without its resolvers. */
export const SCHEMA = buildSchema(SDL);

const ROOTS: readonly [OperationTypeNode, title: string][] = [
  [OperationTypeNode.QUERY, "Queries"],
  [OperationTypeNode.MUTATION, "Mutations"],
  [OperationTypeNode.SUBSCRIPTION, "Subscriptions"],
];

/** Kinds of types, in the order of the page. */
const KINDS: readonly [title: string, fits: (type: GraphQLNamedType) => boolean][] = [
  ["Objects", (type) => isObjectType(type) || isInterfaceType(type) || isUnionType(type)],
  ["Inputs", isInputObjectType],
  ["Enums", isEnumType],
  ["Scalars", isScalarType],
];

/** What has a description: a type, a field, an argument, a value of an enum. */
interface Member {
  name: string;
  type?: GraphQLType;
  args?: readonly Member[];
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
  defaultValue?: unknown;
}

/** Every operation of the API, with its arguments and the scopes that a caller needs. */
function operationsPage(): string {
  return [
    "# GraphQL operations",
    "",
    "Every query, mutation and subscription of the API with its arguments, made from the schema. What they return is in [GraphQL types](/graphql/types). [The API](/services/api#operations) has an example of each.",
    "",
    ...ROOTS.flatMap(([root, title]) => {
      const needs: Readonly<Record<string, { scopes: readonly string[] }>> = OPERATIONS[root];
      const fields = Object.values(SCHEMA.getRootType(root)?.getFields() ?? {});
      return [
        `## ${title}`,
        "",
        ...fields.flatMap((field) => {
          const scopes = (needs[field.name]?.scopes ?? []).map((scope) => `\`${scope}\``).join(" and ");
          return [
            `### ${field.name}`,
            "",
            descriptionOf({ ...field, args: [] }),
            "",
            `Returns ${typeText(field.type)}. Needs the scope ${scopes}.`,
            "",
            ...(field.args.length > 0 ? table("argument", field.args) : []),
          ];
        }),
      ];
    }),
  ].join("\n");
}

/** Every type of the API with its fields or values. */
function typesPage(): string {
  const roots = new Set(ROOTS.map(([root]) => SCHEMA.getRootType(root)?.name));
  const types = Object.values(SCHEMA.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !roots.has(type.name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [
    "# GraphQL types",
    "",
    "Every type of the API with its fields or values, made from the schema. [GraphQL operations](/graphql/operations) use them.",
    "",
    ...KINDS.flatMap(([title, fits]) => [
      `## ${title}`,
      "",
      ...types
        .filter(fits)
        .flatMap((type) => [`### ${type.name}`, "", descriptionOf(type), "", ...membersOf(type)]),
    ]),
  ].join("\n");
}

function membersOf(type: GraphQLNamedType): string[] {
  if (isEnumType(type)) return table("value", type.getValues());
  if (isUnionType(type)) return [`One of ${type.getTypes().map(typeText).join(", ")}.`, ""];
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  return hasFields ? table("field", Object.values(type.getFields())) : [];
}

function table(kind: string, members: readonly Member[]): string[] {
  const hasTypes = members.some(({ type }) => type !== undefined);
  const head = hasTypes ? [kind, "type", "description"] : [kind, "description"];
  const rows = members.map((member) => [
    `\`${member.name}\``,
    ...(hasTypes ? [typeText(member.type)] : []),
    descriptionOf(member),
  ]);
  return [...[head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`), ""];
}

/** A type as code, with a link to its place on the page of types. */
function typeText(type: GraphQLType | undefined): string {
  if (!type) return "";
  const code = `\`${String(type)}\``;
  const named = getNamedType(type);
  return isSpecifiedScalarType(named) ? code : `[${code}](/graphql/types#${named.name.toLowerCase()})`;
}

/** The description of a member in one line, with its deprecation, its default, and the arguments of a field. */
function descriptionOf({ description, deprecationReason, defaultValue, args = [] }: Member): string {
  const parameters = args.map((arg) => `\`${arg.name}\` (${typeText(arg.type)}): ${descriptionOf(arg)}`);
  return [
    deprecationReason ? `**Deprecated.** ${plain(deprecationReason)}` : "",
    plain(description ?? ""),
    defaultValue === undefined ? "" : `Default: \`${JSON.stringify(defaultValue)}\`.`,
    parameters.length > 0 ? `Arguments: ${parameters.join(" ")}` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Text of the schema, which is not Markdown, as a cell of a table. */
const plain = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\\*_[\]|]/g, "\\$&");
