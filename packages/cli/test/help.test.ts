/** The help agrees with the program. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, expect, test } from "vitest";
import { createProgram, type ProgramParts } from "../src/program.ts";
import { EXIT } from "../src/report/exit-code.ts";
import { readText } from "./cli-stack.ts";

const folder = mkdtempSync(join(tmpdir(), "planwright-help-"));
writeFileSync(join(folder, "plan.json"), "{}");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function programOf(parts: Partial<ProgramParts> = {}): Command {
  const program = createProgram({
    version: "1",
    perform: async () => undefined,
    performLocally: async () => undefined,
    print: () => undefined,
    ...parts,
  });
  program.exitOverride().configureOutput({ writeErr: () => undefined });
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/** The output of --help. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part) });
  command.outputHelp();
  return text;
}

/** The lines below a title. */
const linesBelow = (help: string, title: string): string[] =>
  /^(?: {2}.*\n?)+/m
    .exec(help.split(`\n${title}\n`)[1] ?? "")?.[0]
    .trimEnd()
    .split("\n")
    .map((line) => line.trim()) ?? [];

/** The arguments that a shell passes to the program for each of the lines that a user types. */
function wordsOf(lines: readonly string[]): string[][] {
  const given = (index: number): string => join(folder, `words-${index}`);
  const typed = lines.map((line, index) => `given=${given(index)}\n${line}\necho $?`);
  const shell = `planwright() { printf '%s\\0' "$@" > $given; }; jq() { cat > /dev/null; }\n${typed.join("\n")}`;
  const { stdout, stderr } = spawnSync("bash", ["-c", shell], { cwd: folder, encoding: "utf8" });
  expect({ lines, stdout, stderr }).toEqual({ lines, stdout: "0\n".repeat(lines.length), stderr: "" });
  return lines.map((_, index) => {
    const words = readFileSync(given(index), "utf8").split("\0").slice(0, -1);
    rmSync(given(index));
    return words;
  });
}

const commands = [programOf(), ...programOf().commands.filter((command) => command.name() !== "complete")];

test.each(commands.map((command) => [command.name(), command] as const))(
  "%s --help shows examples, and the program accepts each of them",
  async (name, command) => {
    const examples = linesBelow(helpOf(command), "Examples:");
    expect(examples.length).toBeGreaterThan(0);
    for (const [index, words] of wordsOf(examples).entries()) {
      const done: string[] = [];
      if (name !== "planwright") expect(words.find((word) => !word.startsWith("-"))).toBe(name);
      const program = programOf({
        perform: async () => void done.push("performed"),
        performLocally: async () => void done.push("performed"),
        print: () => void done.push("printed"),
      });
      await program.parseAsync(words, { from: "user" });
      expect({ example: examples[index], done: done.length }).toEqual({ example: examples[index], done: 1 });
    }
  },
);

test("an example that the program does not accept is noticed", async () => {
  const [words = []] = wordsOf(["planwright run --nope x"]);
  await expect(programOf().parseAsync(words, { from: "user" })).rejects.toThrow("unknown option '--nope'");
});

test("the exit codes of the help are those of the README and of the program", () => {
  const inHelp = linesBelow(helpOf(programOf()), "Exit codes:").map((line) => line.split(/ {2,}/));
  const table = /^\| exit code \|.*\n\|---.*\n((?:\|.*\n)+)/m.exec(readText("../README.md"))?.[1] ?? "";
  const inReadme = table
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .replaceAll("`", "")
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(inHelp).toEqual(inReadme);
  expect(inHelp.flatMap(([codes = ""]) => codes.split(", ")).map(Number)).toEqual(Object.values(EXIT));
});
