/**
 * The pages of the documentation site. A page is a document of the repository, sections of one, or generated from what
 * the code declares; no text is written for the site alone.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CodedError } from "@planwright/plan";
import { anchorOf } from "@planwright/testing";
import { operationsPage, typesPage } from "./graphql-pages.ts";
import { type SettingsPageParts, settingsPage } from "./settings-page.ts";

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
