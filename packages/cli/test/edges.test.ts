import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { bashCompletion } from "../src/completion/bash-completion.ts";
import { ApiRefusedError, ApiUnreachableError } from "../src/errors.ts";
import { createPolling } from "../src/follow/poll-request.ts";
import { createStreaming } from "../src/follow/stream-request.ts";
import { createProgram } from "../src/program.ts";
import { parseUrl } from "../src/program-options.ts";
import { createCommandLine } from "../src/report/command-line.ts";
import { wantsColour } from "../src/terminal/style.ts";
import { planOf, REQUEST_ID, requestOf, stepOf } from "./fixtures/requests.ts";
import { planwright } from "./planwright.ts";

describe("following", () => {
  const URL = "http://127.0.0.1:1/graphql";
  const away = new ApiUnreachableError(URL, "ECONNREFUSED");

  /** A client that gives one reading, or error, after the other. */
  async function follow(readings: (object | Error)[], isPatient = false) {
    const left = [...readings];
    const ask = () => {
      const next = left.shift();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next as never);
    };
    const seen: string[] = [];
    const options = {
      isPatient,
      signal: new AbortController().signal,
      onTrouble: (error: Error) => void seen.push(`trouble: ${error.name}`),
    };
    const times = { minMs: 1, maxMs: 1 };
    for await (const { status } of createPolling({ ask }, times)(REQUEST_ID, options)) seen.push(status);
    return seen;
  }

  const planning = requestOf({ status: "PLANNING" });
  const completed = requestOf({ status: "COMPLETED" });
  const asking = requestOf({ status: "NEEDS_INPUT" });

  test("gives each state once and ends with the last one", async () => {
    expect(await follow([planning, planning, completed])).toEqual(["PLANNING", "COMPLETED"]);
  });

  test("ends when a client or operator is needed, or waits for it", async () => {
    expect(await follow([planning, asking])).toEqual(["PLANNING", "NEEDS_INPUT"]);
    expect(await follow([asking, planning, completed], true)).toEqual([
      "NEEDS_INPUT",
      "PLANNING",
      "COMPLETED",
    ]);
  });

  test("a duration that grows is no change", async () => {
    const running = (durationMs: number) =>
      requestOf({ plan: planOf([stepOf("a", { durationMs })], { durationMs }) });
    expect(await follow([running(1), running(2), completed])).toEqual(["EXECUTING", "COMPLETED"]);
  });

  test("an API that went away is asked again; one that was never there is an error", async () => {
    const overloaded = new ApiRefusedError("too much", {
      code: "OVERLOADED",
      retryable: true,
      remedy: null,
      facts: {},
    });
    expect(await follow([planning, away, overloaded, completed])).toEqual([
      "PLANNING",
      "trouble: ApiUnreachableError",
      "trouble: ApiRefusedError",
      "COMPLETED",
    ]);
    await expect(follow([away])).rejects.toBe(away);
  });

  test("a refusal that lasts ends it", async () => {
    const unknown = new ApiRefusedError("unknown", {
      code: "NOT_FOUND",
      retryable: false,
      remedy: null,
      facts: {},
    });
    await expect(follow([planning, unknown])).rejects.toBe(unknown);
  });
});

describe("following a stream", () => {
  const broken = new ApiUnreachableError("http://127.0.0.1:1/graphql/stream", "the stream broke off");
  const planning = requestOf({ status: "PLANNING" });
  const running = requestOf({ status: "EXECUTING" });
  const completed = requestOf({ status: "COMPLETED" });

  /** What is told, given what each stream in turn says, or "silence", and what a reading says. */
  async function follow(streams: (object | Error | "silence")[][], readings: object[] = []) {
    const left = [...streams];
    const seen: string[] = [];
    const client = {
      ask: () => Promise.resolve(readings.shift() as never),
      async *subscribe(_: unknown, __: unknown, until: AbortSignal) {
        for (const said of left.shift() ?? []) {
          if (said instanceof Error) throw said;
          if (said === "silence") await once(until, "abort");
          else yield said as never;
        }
      },
    };
    async function* poll() {
      seen.push("polls");
      yield completed;
    }
    const options = {
      isPatient: false,
      signal: new AbortController().signal,
      onTrouble: (error: Error) => void seen.push(`trouble: ${error.name}`),
    };
    const times = { quietMs: 50, againMs: 1 };
    for await (const { status } of createStreaming(client, poll, times)(REQUEST_ID, options))
      seen.push(status);
    return seen;
  }

  test("gives each state once and leaves the stream with the last one", async () => {
    expect(await follow([[planning, planning, completed, broken]])).toEqual(["PLANNING", "COMPLETED"]);
  });

  test("a stream that broke off, or was ended early, is asked for again", async () => {
    expect(await follow([[planning, broken], [broken], [planning], [running, completed]])).toEqual([
      "PLANNING",
      "trouble: ApiUnreachableError",
      "trouble: ApiUnreachableError",
      "EXECUTING",
      "COMPLETED",
    ]);
  });

  test("one that cannot be had is replaced by polling", async () => {
    expect(await follow([[broken]])).toEqual(["polls", "COMPLETED"]);
  });

  test("one that says nothing is not believed for long", async () => {
    const unattended = requestOf({ status: "PLANNING", waitReason: "no worker" });
    expect(await follow([[planning, "silence"]], [unattended, completed])).toEqual([
      "PLANNING",
      "PLANNING",
      "COMPLETED",
    ]);
  });

  test("an answer that was asked for is waited for", async () => {
    const waiting = requestOf({ status: "COMPLETED", answerRequested: true });
    const told = requestOf({ status: "COMPLETED", answerRequested: true, answer: "Alice is there." });
    expect(await follow([[waiting, told, broken]])).toEqual(["COMPLETED", "COMPLETED"]);
  });
});

describe("commands to type", () => {
  test.each([
    ["x; rm -rf ~"],
    ["$(reboot)"],
    ["it's"],
    ["`reboot`"],
    ["a\nb"],
    ["-x"],
    [""],
    ["a[3]"],
    ["\u001b[2Jgone"],
  ])("%j is one word to a shell, and nothing runs", (word) => {
    const line = createCommandLine({ program: "printf %s\\\\n" })("first", word);
    const { stdout } = spawnSync("bash", ["-c", line], { encoding: "utf8" });
    expect(stdout.startsWith("first\n")).toBe(true);
    expect(stdout.slice("first\n".length)).toBe(`${word.replace("\u001b[2J", "")}\n`);
  });

  test("go to the same API, and are called as this program was", () => {
    const command = createCommandLine({ program: "npx planwright", url: "http://h/graphql" });
    expect(command("watch", "req_1")).toBe("npx planwright watch req_1 --url http://h/graphql");
  });
});

describe("completion", () => {
  const program = createProgram({ version: "1", perform: async () => undefined, print: () => undefined });
  const script = bashCompletion(program);

  /** What bash offers for the last word. */
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
    expect(complete("planwright", "--json", "re")).toEqual(["resolve", "retry", "replan", "resume"]);
  });

  test("offers the options of a command and of all, fixed words, and files where one is taken", () => {
    expect(complete("planwright", "submit", "x", "--ex")).toEqual(["--execute"]);
    expect(complete("planwright", "watch", "--ti")).toEqual(["--timeout"]);
    expect(complete("planwright", "list", "--status", "FA")).toEqual(["FAILED"]);
    expect(complete("planwright", "completion", "")).toContain("bash");
    expect(complete("planwright", "submit", "/etc/host")).toContain("/etc/hosts");
  });

  /** What the scripts of zsh and fish are told, by the call that stands in them. */
  async function asked(shell: "zsh" | "fish", ...words: string[]): Promise<string[]> {
    const { stdout: printed, exitCode } = await planwright(["completion", shell]);
    expect(exitCode).toBe(0);
    const [, entry = ""] = /(?:requestComp="|results \()planwright (complete --)/.exec(printed) ?? [];
    const { stdout, stderr } = await planwright([...entry.split(" "), ...words]);
    expect(stderr).toBe("");
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
  }

  test.each(["zsh", "fish"] as const)(
    "the script of %s calls what offers commands, options, fixed words, and files",
    async (shell) => {
      expect(await asked(shell, "re")).toEqual(["resolve", "retry", "replan", "resume", ":4"]);
      expect(await asked(shell, "")).not.toContain("complete");
      expect(await asked(shell, "submit", "x", "--ex")).toEqual(["--execute", ":4"]);
      expect(await asked(shell, "watch", "--ti")).toEqual(["--timeout", ":4"]);
      expect(await asked(shell, "list", "--needs", "")).toEqual(["approval", "doubt", "answer", ":4"]);
      expect(await asked(shell, "--url", "http://h", "completion", "")).toEqual([
        "bash",
        "zsh",
        "fish",
        ":4",
      ]);
      // 0: files, as the shell knows them.
      expect(await asked(shell, "validate", "pl")).toEqual([":0"]);
      expect(await asked(shell, "validate", "--ur")).toEqual(["--url", ":4"]);
      expect(await asked(shell, "$(reboot)", "")).toEqual([":4"]);
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

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ NO_COLOR: "" }, true, true],
  [{ TERM: "dumb" }, true, false],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, true, false],
])("with %j on a terminal (%s), colours: %s", (env, isTerminal, wanted) => {
  expect(wantsColour(env, isTerminal)).toBe(wanted);
});
