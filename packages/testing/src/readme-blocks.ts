import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** One fenced block of a README. */
export interface ReadmeBlock {
  /** Path of the README from the root of the repository, such as "packages/plan/README.md". */
  readme: string;
  /** Line of the opening fence, from 1. */
  line: number;
  /** The word after the opening fence; "" without one, as for output. */
  language: string;
  /** The text between the fences, with its last line break. */
  text: string;
  /** The title of the block's section, without `#`. */
  section: string;
}

/**
 * Paths of all documents of the repository: those in the root, those in docs with its guides, then the README
 * of each package and service.
 * @param root - folder of the repository
 */
export function readmePaths(root: string): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
    .toSorted();
  const parts = ["packages", "services"].flatMap((top) =>
    readdirSync(join(root, top)).map((name) => `${top}/${name}/README.md`),
  );
  return ["README.md", "CONTRIBUTING.md", ...docs, ...parts.toSorted()].filter((path) =>
    existsSync(join(root, path)),
  );
}

/**
 * The fenced blocks of a README, in order. A fence is three backticks at the beginning of a line.
 * @param root - folder of the repository
 * @param readme - path from the root
 * @throws {TypeError} for a fence that is not closed
 */
export function readmeBlocks(root: string, readme: string): ReadmeBlock[] {
  const blocks: ReadmeBlock[] = [];
  let section = "";
  let open: ReadmeBlock | undefined;
  for (const [index, line] of readFileSync(join(root, readme), "utf8").split("\n").entries()) {
    if (line.startsWith("```")) {
      if (open) blocks.push(open);
      open = open ? undefined : { readme, line: index + 1, language: line.slice(3), text: "", section };
    } else if (open) open.text += `${line}\n`;
    else section = /^#+ (.*)$/.exec(line)?.[1] ?? section;
  }
  if (open) throw new TypeError(`${readme}:${open.line} is not closed`);
  return blocks;
}

/** The anchor of a title in a document, as GitHub makes it. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** Texts that differ from run to run, and the words that replace them for the comparison. */
const VARYING: readonly [form: RegExp, word: string][] = [
  [/\b(req|plan)_\d{10}_[a-z0-9]{20}\b/g, "$1_…"],
  [/\b(req|plan)_…/g, "$1_ID"],
  [/\b[0-9a-f]{24}\b/g, "OBJECT-ID"],
  [/-\d{3,10}@/g, "-NUMBER@"],
  [/\b\d+(\.\d+)? (ms|s)\b/g, "DURATION"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
];

/**
 * The lines of a shown output that a real output does not have in this order; none when the README is
 * correct. Ids, durations, times and numbers of e-mail addresses may differ, the real output may have more
 * lines, and `…` before the end of a shown line matches anything.
 */
export function linesNotPrinted(shown: string, printed: string): string[] {
  const lines = printed.split("\n").map(normalised);
  let from = 0;
  return shown.split("\n").filter((line) => {
    const [beginning = "", end] = normalised(line).split(/…(?=[^…]*$)/);
    const at = lines.findIndex(
      (each, index) =>
        index >= from &&
        (end === undefined ? each === beginning : each.startsWith(beginning) && each.endsWith(end)),
    );
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

function normalised(line: string): string {
  return VARYING.reduce(
    (text, [form, word]) => text.replaceAll(form, word),
    stripVTControlCharacters(line),
  ).trimEnd();
}
