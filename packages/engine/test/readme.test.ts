import { readFile } from "node:fs/promises";
import { inspect } from "node:util";
import * as plan from "@planwright/plan";
import ts from "typescript";
import { expect, test } from "vitest";
import * as engine from "../src/index.ts";

const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");

const PACKAGES: Readonly<Record<string, object>> = { "@planwright/engine": engine, "@planwright/plan": plan };

/** Runs an example as it stands, with this package's own exports, and gives what it printed. */
async function run(example: string): Promise<string> {
  const printed: string[] = [];
  const log = (...values: unknown[]) =>
    printed.push(
      values.map((value) => (typeof value === "string" ? value : inspect(value, { depth: 9 }))).join(" "),
    );
  const bound = example.replaceAll(/^import \{([^}]*)\} from "([^"]*)";$/gm, (_, names, from) => {
    return `const {${names}} = packages[${JSON.stringify(from)}];`;
  });
  const script = ts.transpileModule(`export async function main(packages, console) {\n${bound}\n}`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  }).outputText;
  const module = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  await module.main(PACKAGES, { log });
  return printed.join("\n");
}

test("the README has an example for each concept", () => {
  expect(examples.length).toBeGreaterThanOrEqual(6);
});

test.each(examples.map((example) => [/^\/\/ => (.*)$/m.exec(example)?.[1] ?? "", example]))(
  "prints %s",
  async (expected, example) => {
    expect((await run(example)).replaceAll(/\s+/g, " ")).toBe(expected);
  },
);
