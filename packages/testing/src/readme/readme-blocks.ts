import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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
