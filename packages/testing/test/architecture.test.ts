/** docs/architecture.md: its state diagrams are generated from the lifecycle tables, and its map is the tree. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PLAN_LIFECYCLE, REQUEST_LIFECYCLE, STEP_LIFECYCLE } from "@planwright/plan";
import { expect, test } from "vitest";
import { readmeBlocks } from "../src/readme-blocks.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FILE = "docs/architecture.md";
/**
 * A submitted plan needs no planning, and one that is executed at once begins as QUEUED, or as RUNNING where it is
 * stored as claimed.
 */
const DIAGRAMS = {
  request: stateDiagram(REQUEST_LIFECYCLE, ["PLANNING", "READY", "EXECUTING", "FAILED"]),
  plan: stateDiagram(PLAN_LIFECYCLE, ["INVALID", "READY", "QUEUED", "RUNNING"]),
  step: stateDiagram(STEP_LIFECYCLE, ["PENDING"]),
};
const BLOCK = /(?<=<!-- states of a (request|plan|step) -->\n```mermaid\n)[\s\S]*?(?=\n?```)/g;

test("docs/architecture.md shows every status and every move; -u writes it again", async () => {
  const current = readFileSync(join(ROOT, FILE), "utf8").replaceAll(
    BLOCK,
    (_, name: keyof typeof DIAGRAMS) => DIAGRAMS[name],
  );
  await expect(current).toMatchFileSnapshot(join(ROOT, FILE));
});

test("every lifecycle table has its diagram", () => {
  const shown = readmeBlocks(ROOT, FILE).filter(({ text }) => text.startsWith("stateDiagram"));
  expect(shown.map(({ section }) => section)).toEqual(["Request", "Plan", "Step and item"]);
});

test("a state diagram begins with the initial statuses and ends with statuses without moves", () => {
  expect(stateDiagram({ READY: { moves: ["DONE"] }, DONE: { moves: [] } }, ["READY"])).toBe(
    ["stateDiagram-v2", "  [*] --> READY", "  READY --> DONE", "  DONE --> [*]"].join("\n"),
  );
});

test("the map has every folder with source, and none has more files than the map allows", () => {
  const budgets = foldersOfMap();
  const found = foldersOfTree();
  expect([...found.keys()].toSorted()).toEqual([...budgets.keys()].toSorted());
  const full = [...found].filter(([folder, files]) => files > (budgets.get(folder) ?? 0));
  expect(full.map(([folder, files]) => `${folder}: ${files} files, of ${budgets.get(folder)}`)).toEqual([]);
});

/** The folders of the map, from the root, with the number of files that each may have. */
function foldersOfMap(): Map<string, number> {
  const [, map = ""] = /### The map\n([\s\S]*?)\n## /.exec(readFileSync(join(ROOT, FILE), "utf8")) ?? [];
  const rows = [...map.matchAll(/^\| ([a-z/-]+) \| (.* \d+) \|$/gm)];
  return new Map(
    rows.flatMap(([, name = "", folders = ""]) =>
      folders.split(", ").map((one): [string, number] => {
        const [folder = "", files] = one.split(" ");
        const source = `${name.includes("/") ? name : `packages/${name}`}/src`;
        return [folder === "src" ? source : `${source}/${folder}`, Number(files)];
      }),
    ),
  );
}

/** The folders with source, from the root, with the numbers of their files. */
function foldersOfTree(): Map<string, number> {
  const found = new Map<string, number>();
  for (const top of ["packages", "services"])
    for (const name of readdirSync(join(ROOT, top))) {
      const source = `${top}/${name}/src`;
      if (!existsSync(join(ROOT, source))) continue;
      for (const file of readdirSync(join(ROOT, source), { recursive: true, encoding: "utf8" })) {
        if (!/\.tsx?$/.test(file) || /\.(test|fixture)\.tsx?$|^schema\/introspection\.ts$/.test(file))
          continue;
        const folder = dirname(`${source}/${file}`);
        found.set(folder, (found.get(folder) ?? 0) + 1);
      }
    }
  return found;
}

/**
 * A Mermaid state diagram of a lifecycle table, with every status and every move. A status without moves is
 * final.
 * @param first - the initial statuses
 */
function stateDiagram(
  table: Readonly<Record<string, { moves: readonly string[] }>>,
  first: readonly string[],
): string {
  const moves = Object.entries(table).flatMap(([status, row]) => [
    ...row.moves.map((next) => `${status} --> ${next}`),
    ...(row.moves.length === 0 ? [`${status} --> [*]`] : []),
  ]);
  const lines = [...first.map((status) => `[*] --> ${status}`), ...moves];
  return ["stateDiagram-v2", ...lines.map((line) => `  ${line}`)].join("\n");
}
