import { PRIORITIES, ProfileSchema } from "@planwright/plan";
import { InvalidArgumentError, Option } from "commander";

/** Steps that a rerun or an amendment may call once more. */
export function repeatOption(): Option {
  return new Option(
    "--repeat <step>",
    "call this step once more although its failed call acted or may have acted; may be repeated",
  ).argParser((step: string, steps: string[] | undefined) => [...(steps ?? []), step]);
}

/** The default address of the API. */
export const DEFAULT_URL = "http://127.0.0.1:4000/graphql";

/** Options of every command. */
export interface GlobalOptions {
  url: string;
  token?: string;
  /** In milliseconds. */
  timeout?: number;
  json?: boolean;
}

/** The options that every command takes. */
export function globalOptions(): Option[] {
  return [
    new Option("--url <url>", "where the API is")
      .env("PLANWRIGHT_URL")
      .default(DEFAULT_URL)
      .argParser(parseUrl),
    new Option(
      "--token <token>",
      "API key or token, sent as Authorization: Bearer; the variable is safer than the option",
    )
      .env("PLANWRIGHT_API_KEY")
      .argParser(parseToken),
    new Option("--timeout <seconds>", "longest to wait; the request continues").argParser(parseTimeout),
    new Option("--json", "print JSON for programs and nothing else"),
  ];
}

/** An http address; without a path it gets the path of the API. @throws {InvalidArgumentError} */
export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new InvalidArgumentError(`An address looks like ${DEFAULT_URL}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError("Give credentials with PLANWRIGHT_API_KEY, not in the address");
  }
  if (url.pathname === "/") url.pathname = "/graphql";
  return url.href;
}

function parseToken(text: string): string {
  if (/^[\x21-\x7e]{1,8192}$/.test(text)) return text;
  throw new InvalidArgumentError("A token is one word of visible ASCII characters");
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= 604_800) return seconds * 1_000;
  throw new InvalidArgumentError("Give seconds, above 0 and at most 604800 (a week)");
}

/** Parses a whole number from `min` (default 1) to `max`. */
export function wholeNumber(max: number, min = 1) {
  return (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}`);
  };
}

/**
 * Options of the commands that create a request: `--tag`, `--priority`, `--max-replans`, `--answer`, and the limits of
 * model calls.
 */
export function askOptions(): Option[] {
  return [
    new Option("--tag <tag...>", "words by which to find the request again"),
    new Option(
      "--priority <priority>",
      "its place among the waiting requests of the tenant; default: normal",
    ).choices(PRIORITIES),
    new Option(
      "--max-replans <number>",
      "replan automatically after a failure, at most this often",
    ).argParser(wholeNumber(5, 0)),
    new Option("--answer", "have a model describe the results in words when the plan has ended"),
    new Option("--max-model-calls <number>", "most model calls for the request").argParser(
      wholeNumber(2 ** 31 - 1, 0),
    ),
    new Option("--max-tokens <number>", "most tokens of prompts and answers of those calls").argParser(
      wholeNumber(2 ** 31 - 1, 0),
    ),
    new Option("--max-cost-usd <dollars>", "most US dollars for those calls").argParser(parseDollars),
  ];
}

/** Options of the commands that plan a sentence: `--context`, `--timezone`, `--profile` and `--policy`. */
export function sentenceOptions(): Option[] {
  return [
    new Option(
      "--context <file>",
      "the context of the sentence: a JSON file, or the JSON object itself, with any of now, timezone, locale, facts",
    ),
    new Option(
      "--timezone <name>",
      "the time zone of dates, such as Europe/Berlin; default: that of the context, else the terminal's",
    ),
    new Option("--profile <name>", "make the plan behave as in one of the older systems").choices(
      ProfileSchema.options,
    ),
    new Option("--policy <file>", "options of the plan's policy: a JSON file, or the JSON object itself"),
  ];
}

function parseDollars(text: string): number {
  const dollars = Number(text);
  if (text.trim() !== "" && Number.isFinite(dollars) && dollars >= 0) return dollars;
  throw new InvalidArgumentError("Give US dollars, such as 0.25");
}
