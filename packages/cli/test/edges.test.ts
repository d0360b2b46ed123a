import { spawnSync } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { createProgram } from "../src/program.ts";
import { parseUrl } from "../src/program-options.ts";
import { createCommandLine } from "../src/report/format.ts";
import { bashCompletion } from "../src/shell-completion.ts";
import { wantsColour } from "../src/terminal.ts";
import { planwright, startProcess } from "./planwright.ts";

describe("commands to type", () => {
  test("any word is one word to a shell, which a terminal shows as it is, and none of it is executed", () => {
    const words = [
      "x; rm -rf ~",
      "$(reboot)",
      "it's",
      "`reboot`",
      "a\nb",
      "-x",
      "",
      "a[3]",
      "\u001b[2Jgone",
      "pay\n$(reboot)\u0003",
      "\u202e it's reversed \u2066",
      "zero\u200bwidth\\7",
      "=ls",
      "café 漢字 😀",
    ];
    const command = createCommandLine({ program: "printf %s\\\\0" });
    const lines = words.map((word) => command("first", word));
    // One shell for all lines: a shell for each takes ten times the processor time.
    const { stdout } = spawnSync("bash", ["-c", lines.join("\n")], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    });
    expect(stdout.split("\0").slice(0, -1)).toEqual(words.flatMap((word) => ["first", word]));
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test("use the same API and the same program name", () => {
    const command = createCommandLine({ program: "npx planwright", url: "http://h/graphql" });
    expect(command("watch", "req_1")).toBe("npx planwright watch req_1 --url http://h/graphql");
  });
});

describe("completion", () => {
  const program = createProgram({
    version: "1",
    perform: async () => undefined,
    performLocally: async () => undefined,
    print: () => undefined,
  });
  const script = bashCompletion(program);

  /** The completions of bash for the last word. */
  function complete(...words: string[]): string[] {
    const typed = words.map((word) => `'${word}'`).join(" ");
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _planwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", `${script}\n${ask}`], { encoding: "utf8" });
    expect(stderr).toBe("");
    return stdout.split("\n").filter((line) => line !== "");
  }

  test("offers every command, also after options with values", () => {
    expect(complete("planwright", "")).toEqual(
      expect.arrayContaining(
        program
          .createHelp()
          .visibleCommands(program)
          .map((one) => one.name()),
      ),
    );
    expect(complete("planwright", "--url", "run", "wa")).toEqual(["watch"]);
    expect(complete("planwright", "--json", "re")).toEqual([
      "restore",
      "resolve",
      "retry",
      "replan",
      "resume",
    ]);
  });

  test("offers the options of a command and of all commands, fixed words, and files for commands that take one", () => {
    expect(complete("planwright", "submit", "x", "--ex")).toEqual(["--execute"]);
    expect(complete("planwright", "watch", "--ti")).toEqual(["--timeout"]);
    expect(complete("planwright", "list", "--status", "FA")).toEqual(["FAILED"]);
    expect(complete("planwright", "completion", "")).toContain("bash");
    expect(complete("planwright", "submit", "/etc/host")).toContain("/etc/hosts");
  });

  const linesIn = (printed: string): string[] =>
    printed.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));

  /** The candidates that the scripts of zsh and fish get from the program; its library prints them to the console. */
  async function candidatesOf(entry: string, ...words: string[]): Promise<string[]> {
    const printed: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((line) => void printed.push(line));
    try {
      const { stdout, stderr } = await planwright([...entry.split(" "), ...words]);
      expect(stderr).toBe("");
      return linesIn([...printed, stdout].join("\n"));
    } finally {
      log.mockRestore();
    }
  }

  test.each(["zsh", "fish"] as const)(
    "the script of %s gets commands, options, fixed words, and files from the program",
    async (shell) => {
      const { stdout: printed, exitCode } = await startProcess(["completion", shell]).ended;
      expect(exitCode).toBe(0);
      const [, entry = ""] = /(?:requestComp="|results \()planwright (complete --)/.exec(printed) ?? [];
      const found = await startProcess([...entry.split(" "), "re"]).ended;
      const expected = ["restore", "resolve", "retry", "replan", "resume", ":4"];
      expect({ ...found, stdout: linesIn(found.stdout) }).toEqual({
        exitCode: 0,
        stdout: expected,
        stderr: "",
      });
      expect(await candidatesOf(entry, "re")).toEqual(expected);
      expect(await candidatesOf(entry, "")).not.toContain("complete");
      expect(await candidatesOf(entry, "submit", "x", "--ex")).toEqual(["--execute", ":4"]);
      expect(await candidatesOf(entry, "watch", "--ti")).toEqual(["--timeout", ":4"]);
      expect(await candidatesOf(entry, "list", "--needs", "")).toEqual([
        "approval",
        "doubt",
        "answer",
        "sign-in",
        ":4",
      ]);
      expect(await candidatesOf(entry, "--url", "http://h", "completion", "")).toEqual([
        "bash",
        "zsh",
        "fish",
        ":4",
      ]);
      // 0: the shell completes files.
      expect(await candidatesOf(entry, "validate", "pl")).toEqual([":0"]);
      expect(await candidatesOf(entry, "validate", "--ur")).toEqual(["--url", ":4"]);
      expect(await candidatesOf(entry, "$(reboot)", "")).toEqual([":4"]);
    },
  );
});

test.each([
  ["http://127.0.0.1:4000", "http://127.0.0.1:4000/graphql"],
  ["https://planwright.example/api/graphql", "https://planwright.example/api/graphql"],
])("the address %s means %s", (given, url) => {
  expect(parseUrl(given)).toBe(url);
});

test.each(["", "planwright", "ftp://x/", "http://user:secret@x/"])("the address %j is refused", (given) => {
  expect(() => parseUrl(given)).toThrow();
});

test("a reader that has closed standard error changes no exit code", async () => {
  expect(await startProcess(["nosuch"], { isErrorClosed: true }).ended).toMatchObject({ exitCode: 2 });
});

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ NO_COLOR: "" }, true, true],
  [{ TERM: "dumb" }, true, false],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, true, false],
])("with %j on a terminal: %s, colours: %s", (env, isTerminal, wanted) => {
  expect(wantsColour(env, isTerminal)).toBe(wanted);
});
