import { expect, test } from "vitest";
import {
  developerCommand,
  numberOption,
  wholeNumberOption,
  wordOption,
  wordsOption,
} from "./developer-command.ts";

/** The output of a command and, when it does not end the process, its options. */
function read(...args: string[]) {
  let output = "";
  const command = developerCommand("bench -- api", "Measures.")
    .option("--plans <number>", "plans", wholeNumberOption(1, 100), 20)
    .option("--seconds <number>", "of time", numberOption(60), null)
    .option("--token-ms <ms>", "of each", numberOption(10, 0), 0.5)
    .option("--shape <name>", "of plans", wordOption(["chain", "wide"]))
    .option("--only <part...>", "and nothing else", wordsOption(["polls", "events"]), [])
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        output += text;
      },
      writeErr: (text) => {
        output += text;
      },
    });
  try {
    return { options: command.parse(args, { from: "user" }).opts(), output };
  } catch {
    return { options: null, output };
  }
}

test("options that are not given have their defaults", () => {
  expect(read().options).toEqual({ plans: 20, seconds: null, tokenMs: 0.5, only: [] });
});

test("options with fixed words are read", () => {
  expect(read("--shape", "wide", "--only", "events", "polls", "--only", "events").options).toMatchObject({
    shape: "wide",
    only: ["events", "polls", "events"],
  });
});

test("options with numbers are read", () => {
  expect(read("--plans", "100", "--seconds=0.5", "--token-ms", "0").options).toEqual({
    plans: 100,
    seconds: 0.5,
    tokenMs: 0,
    only: [],
  });
});

test.each([
  ["--plans=0", "Give a whole number from 1 to 100"],
  ["--plans=1.5", "Give a whole number from 1 to 100"],
  ["--plans=1e1", "Give a whole number from 1 to 100"],
  ["--seconds=0", "Give a number above 0, 60 at most"],
  ["--seconds=soon", "Give a number above 0, 60 at most"],
  ["--seconds=", "Give a number above 0, 60 at most"],
  ["--token-ms=-1", "Give a number from 0 to 10"],
  ["--token-ms=11", "Give a number from 0 to 10"],
  ["--shape=round", "Give one of chain, wide"],
  ["--only=round", "Give one or more of polls, events"],
  ["--tokens=1", "unknown option"],
  ["odd", "too many arguments"],
])("%s is refused: %s", (word, words) => {
  const { options, output } = read(word);
  expect(options).toBeNull();
  expect(output).toContain(words);
  expect(output).toContain("--help shows every option");
});

test("--help names the command as developers type it, and each option with its default", () => {
  const { output } = read("--help");
  expect(output).toContain("Usage: npm run bench -- api [options]");
  expect(output).toMatch(/--plans <number> +plans \(default: 20\)/);
});
