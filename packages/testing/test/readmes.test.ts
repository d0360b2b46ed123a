/**
 * Every block of every README is checked by a test, and everything that the text around them names exists.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDrafter } from "@planwright/models";
import { parseServers } from "@planwright/tools";
import { describe, expect, test } from "vitest";
import { anchorOf, type ReadmeBlock, readmeBlocks, readmePaths } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const READMES = readmePaths(ROOT);
const BLOCKS = READMES.flatMap((readme) => readmeBlocks(ROOT, readme));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The test that types, runs or parses a block. The first match counts. */
const CHECKED_BY: [fits: (block: ReadmeBlock) => boolean, test: string][] = [
  [
    ({ readme }) => readme === "docs/guides/testing-plans.md",
    "packages/create-planwright/test/new-app.test.ts",
  ],
  [({ language }) => language === "ts", "packages/testing/test/readme-code.test.ts"],
  [({ text }) => text.startsWith("stateDiagram-v2"), "packages/testing/test/architecture.test.ts"],
  [isServersFile, "packages/testing/test/readmes.test.ts"],
  [(block) => isSession(block, "packages/cli/README.md"), "packages/cli/test/readme.test.ts"],
  [
    ({ readme, language, text }) =>
      isOfToolGuide(readme) && (language === "js" || text.includes('"jsonrpc"')),
    "packages/tools/test/guide-server.test.ts",
  ],
  [
    ({ readme }) => /^docs\/guides\/(write-a-tool|first-plan|real-model|approvals|debug)\.md$/.test(readme),
    "packages/cli/test/guides.test.ts",
  ],
  [({ readme }) => readme === "docs/guides/deploy.md", "services/api/test/guide-deploy.test.ts"],
  [
    ({ text }) => / node services\/[a-z-]+\/dist\/main\.js$/m.test(text),
    "packages/local/test/readme.test.ts",
  ],
  [
    ({ readme, language }) => readme === "services/api/README.md" && language === "sh",
    "services/api/test/readme-examples.ts",
  ],
  [
    ({ readme, section }) => readme === "services/executor/README.md" && section === "Lists",
    "services/executor/test/readme-lists.test.ts",
  ],
  [(block) => isSession(block, "README.md"), "packages/local/test/readme.test.ts"],
];

/** Blocks that no test runs, with their first words and the reason. */
const NOT_RUN: [readme: string, beginning: string, reason: string][] = [
  ["README.md", "MODEL=openai:", "needs keys of providers; its settings are read below"],
  [
    "docs/guarantees.md",
    "npm run chaos",
    "takes minutes; npm run verify runs it, and its options are checked below",
  ],
  ["services/executor/README.md", "npm run simulate", "takes minutes, like npm run chaos"],
  ["docs/guides/write-a-tool.md", "from mcp.server", "needs Python and its SDK, version 2"],
  ["docs/architecture.md", "flowchart", "a drawing"],
  ["docs/architecture.md", "sequenceDiagram", "a drawing"],
  ["packages/lab/README.md", "npm run simulate", "takes minutes, like npm run chaos"],
  ["packages/create-planwright/README.md", "npm create", "needs a registry: npm run proof:packages types it"],
  ["services/planner/README.md", "retrieve -> direct", "a drawing"],
  ["services/planner/README.md", "read -> draft", "a drawing"],
];

/** True for a block that is not run; drawings of folders are not run either. */
const isNotRun = ({ readme, language, text }: ReadmeBlock) =>
  (language === "" && /^(?:[a-z-]+\/|[a-z-]+\.ts\b)/.test(text)) ||
  NOT_RUN.some(([path, beginning]) => readme === path && text.startsWith(beginning));

function isOfToolGuide(readme: string): boolean {
  return readme === "docs/guides/write-a-tool.md";
}

/** Commands, their output, and the plan or JSON Patch that they send. */
function isSession({ readme, language, text }: ReadmeBlock, of: string): boolean {
  return (
    readme === of && (["sh", ""].includes(language) || (language === "json" && /"(steps|op)":/.test(text)))
  );
}

function isServersFile({ language, text }: ReadmeBlock): boolean {
  return language === "json" && text.includes('"mcpServers"');
}

test("every block is run, parsed, or named with the reason why not", () => {
  const unknown = BLOCKS.filter((block) => !isNotRun(block) && !CHECKED_BY.some(([fits]) => fits(block)));
  expect(unknown.map(({ readme, line, language }) => `${readme}:${line} ${language}`)).toEqual([]);
});

test("every reason is about a block that exists, and every named test reads README blocks", () => {
  for (const [readme, beginning] of NOT_RUN) {
    const found = BLOCKS.filter((block) => block.readme === readme && block.text.startsWith(beginning));
    expect({ readme, beginning, found: found.length }).toEqual({ readme, beginning, found: 1 });
  }
  for (const [, path] of CHECKED_BY) expect(read(path)).toContain("readmeBlocks(");
});

test.each(BLOCKS.filter(isServersFile).map((block) => [`${block.readme}:${block.line}`, block] as const))(
  "%s is a valid servers file",
  (_name, { text }) => {
    const tokens = { BLOG_TOKEN: "t", GITHUB_TOKEN: "t", REPORTS_SECRET: "t" };
    const variables = { ...tokens, MONGODB_URL: "mongodb://127.0.0.1:27017/blog" };
    const named = Object.keys(JSON.parse(text).mcpServers);
    expect(Object.keys(parseServers(JSON.parse(text), { variables }).mcpServers)).toEqual(named);
  },
);

test("every setting for a model in the README gives a drafter, but not without its key", () => {
  const block = BLOCKS.find(({ readme, text }) => readme === "README.md" && text.startsWith("MODEL="));
  const lines = block?.text.trim().split("\n") ?? [];
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const settings = Object.fromEntries(
      [...line.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
    );
    expect(createDrafter(settings).name).toBe(settings["MODEL"]);
    expect(() => createDrafter({ MODEL: settings["MODEL"] })).toThrow(/set /);
  }
});

/** The text of all our sources, scripts and settings, by file. */
const SOURCES = new Map(
  ["packages", "services", "infra"]
    .flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: "utf8" }).map((path) => `${top}/${path}`),
    )
    .filter(
      (path) => !/(^|\/)(node_modules|dist)\//.test(path) && /\.(ts|mjs|json|graphql|ya?ml)$/.test(path),
    )
    .map((path) => [path, read(path)]),
);
const WORDS = new Set(
  [...SOURCES.values(), read("docker-compose.yml")].flatMap((text) => text.match(/[A-Za-z_$][\w$]*/g) ?? []),
);

describe.each(READMES)("%s", (readme) => {
  const text = read(readme);
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");
  const inline = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);

  test("links to files and sections that exist", () => {
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const broken = targets.filter((target) => !/^https?:/.test(target) && !isThere(readme, target));
    expect(broken).toEqual([]);
  });

  test("names scripts and options that exist", () => {
    const { scripts } = JSON.parse(read("package.json"));
    for (const [, name = "", options = ""] of text.matchAll(
      /npm run (?:-s )?([a-z:-]+)((?: -- [^`\n#]*)?)/g,
    )) {
      expect(Object.keys(scripts)).toContain(name);
      for (const [option] of options.matchAll(/--[a-z-]+/g)) {
        const readers = [...SOURCES].filter(([path]) => isOf(name, path));
        expect({ name, option, isKnown: readers.some(([, code]) => code.includes(option)) }).toEqual({
          name,
          option,
          isKnown: true,
        });
      }
    }
  });

  test("names settings, codes and functions that the sources contain", () => {
    const names = inline.flatMap(
      (code) =>
        /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=.*)?$/.exec(code)?.[1] ?? /^([a-z]\w+)\(/.exec(code)?.[1] ?? [],
    );
    expect(names.filter((name) => !WORDS.has(name) && !name.startsWith("OTEL_"))).toEqual([]);
  });

  test("names files that exist", () => {
    const paths = inline.filter((code) => /^[\w.-]+(\/[\w.-]+)+\.(ts|mjs|js|json|graphql)$/.test(code));
    const missing = paths.filter((path) => !isFile(readme, path));
    expect(missing).toEqual([]);
  });
});

/** The folder with the code that reads the options of a script. */
function isOf(script: string, path: string): boolean {
  const folders: Record<string, RegExp> = {
    chaos: /^packages\/lab\/src\/chaos\//,
    simulate: /^packages\/lab\/src\/simulation\//,
    evals: /^packages\/lab\/src\/evals\//,
    bench: /^packages\/lab\/src\/bench\//,
    keys: /^services\/api\/src\//,
    "proof:servers": /^packages\/lab\/src\/real-servers\//,
  };
  return folders[script]?.test(path) ?? false;
}

function isThere(readme: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? readme : join(dirname(readme), path);
  if (!existsSync(join(ROOT, file))) return false;
  if (anchor === undefined) return true;
  const headings = read(file.endsWith(".md") ? file : join(file, "README.md")).matchAll(/^#+ (.*)$/gm);
  return [...headings].some(([, title = ""]) => anchorOf(title) === anchor);
}

/** A path may start at the README's folder, at its sources, or at the root; `dist` is made by the build. */
function isFile(readme: string, path: string): boolean {
  const folder = dirname(readme);
  const source = path.replace(/(^|\/)dist\/(.*)\.js$/, "$1src/$2.ts");
  return [folder, join(folder, "src"), "."].some((from) => existsSync(join(ROOT, from, source)));
}

/**
 * The settings of services: the rows of the table under "Settings" are the settings that the service reads,
 * with their defaults.
 */
describe.each(["api", "blog-tools", "executor", "planner", "planwright"])("the settings of %s", (service) => {
  const section =
    /^## Settings\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(read(`services/${service}/README.md`))?.[1] ?? "";
  const rows = section.split("\n").filter((line) => /^\| `?[A-Z]/.test(line));
  const documented = rows.flatMap(
    (row) => row.split("|")[1]?.match(/[A-Z][A-Z0-9_]+(?![A-Z0-9_]|\.\.\.)/g) ?? [],
  );
  const own = read(`services/${service}/src/env.ts`);
  const shared = own.includes("WORKER_SETTINGS") ? read("packages/runtime/src/start-worker-service.ts") : "";
  const code = `${own}${shared}`;
  const declared = [...code.matchAll(/^ {2}([A-Z][A-Z0-9_]*):([\s\S]*?)(?=^ {2}[A-Z/.]|^\})/gm)];

  test("all have a row, and there are no other rows", () => {
    const names = declared.map(([, name = ""]) => name);
    // Settings that packages read: models (the planner), tracing, secrets.
    const ofPackages = /^(OTEL_|PLANWRIGHT_SECRET_|MODEL$)/;
    expect(documented.filter((name) => !ofPackages.test(name)).toSorted()).toEqual(names.toSorted());
  });

  test("have the defaults in the table", () => {
    for (const [, name = "", rest = ""] of declared) {
      const value = /\.default\(([^)]*)\)/.exec(rest)?.[1]?.replaceAll(/["_]/g, "");
      if (value === undefined || value === "[]") continue;
      const row = rows.find((each) => new RegExp(`\\b${name}\\b`).test(each.split("|")[1] ?? "")) ?? "";
      expect(row).toContain(value);
    }
  });
});
