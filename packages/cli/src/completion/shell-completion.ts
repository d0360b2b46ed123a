import { type Complete, type Command as Completed, RootCommand } from "@bomb.sh/tab";
import type { Argument, Command, Option } from "commander";
import { oneLine } from "../terminal/visible-text.ts";
import { bashCompletion, takesFile, takesRequestId, valueOptions } from "./bash-completion.ts";

/** The shells that have a completion script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Prints a completion script. The script for bash contains all words. Those for zsh and fish call `planwright
 * complete -- <words>` each time, so they are current after an update of the program.
 */
export function printCompletion(program: Command, shell: Shell, print: (text: string) => void): void {
  if (shell === "bash") print(bashCompletion(program));
  else completionOf(program).setup(program.name(), program.name(), shell);
}

/** Prints the candidates for the last word, one a line, then the directive for the script. */
export function complete(program: Command, words: readonly string[], print: (text: string) => void): void {
  const current = words.at(-1) ?? "";
  if (!current.startsWith("-") && isFile(program, words.slice(0, -1))) print(":0\n");
  else completionOf(program).parse([...words]);
}

/** True if the command takes a file and the word before is not an option that needs a value. */
function isFile(program: Command, before: readonly string[]): boolean {
  const withValue = new Set(valueOptions(program));
  const command = before.find(
    (word, index) => !word.startsWith("-") && !withValue.has(before[index - 1] ?? ""),
  );
  const isValue = program.commands
    .find((one) => one.name() === command)
    ?.options.some(({ long, required }) => required && long === before.at(-1));
  return command !== undefined && takesFile(command) && !isValue && !withValue.has(before.at(-1) ?? "");
}

/** True if the last word is the id of a request: it directly follows a command that takes one. */
export function wantsRequestId(program: Command, words: readonly string[]): boolean {
  const [command, current = ""] = words.slice(-2);
  return !current.startsWith("-") && words.length > 1 && takesRequestId(program, command);
}

/**
 * Candidates for the id of a request, newest first, each with its sentence, in the format of
 * {@link complete}; the directive 4 means "no files".
 */
export function requestIdLines(
  requests: readonly { requestId: string; status: string; query: string | null }[],
): string {
  const lines = requests.map(
    ({ requestId, status, query }) =>
      `${requestId}\t${oneLine(`${status} ${query ?? "a submitted plan"}`, 80)}\n`,
  );
  return `${lines.join("")}:4\n`;
}

/** The commands, options and fixed words of the program, as the library takes them. */
function completionOf(program: Command): RootCommand {
  const root = new RootCommand();
  addOptions(root, program.options);
  for (const command of program.createHelp().visibleCommands(program)) {
    const entry = root.command(command.name(), command.description());
    addOptions(entry, [...command.options, ...program.options]);
    for (const argument of command.registeredArguments) addArgument(entry, argument);
  }
  return root;
}

function addOptions(entry: Completed, options: readonly Option[]): void {
  for (const { long, description, required, argChoices = [] } of options) {
    const name = long?.slice(2);
    if (name === undefined) continue;
    if (required) entry.option(name, description, (offer) => offerAll(offer, argChoices));
    else entry.option(name, description);
  }
}

function offerAll(offer: Complete, choices: readonly string[]): void {
  for (const choice of choices) offer(choice, "");
}

function addArgument(entry: Completed, argument: Argument): void {
  const { argChoices = [] } = argument;
  entry.argument(argument.name(), (offer) => offerAll(offer, argChoices), argument.variadic);
}
