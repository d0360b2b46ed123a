import { type Complete, type Command as Completed, RootCommand } from "@bomb.sh/tab";
import type { Argument, Command, Option } from "commander";
import { oneLine } from "./terminal.ts";

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

/** Commands whose argument is a file. */
const TAKES_FILE: ReadonlySet<string> = new Set(["submit", "validate"]);

/** True for a command whose argument is a file. */
const takesFile = (command: string): boolean => TAKES_FILE.has(command);

/** True for the name of a command whose first argument is the id of a request. */
function takesRequestId(program: Command, name: string | undefined): boolean {
  const command = program.commands.find((one) => one.name() === name);
  return command?.registeredArguments[0]?.name() === "requestId";
}

/**
 * A completion script for bash, made from the commands and options of the program, so that it has all of
 * them. It completes commands, options, fixed choices, files for commands that take one, and ids of the
 * newest requests, which it gets from the program.
 */
export function bashCompletion(program: Command): string {
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== "help");
  const names = commands.map((command) => command.name());
  const common = optionsOf(program);
  const cases = commands.map((command) => {
    const words = [...optionsOf(command), ...common, ...choicesOf(command)];
    return `    ${command.name()}) words="${words.join(" ")}"${takesFile(command.name()) ? "; files=1" : ""}${takesRequestId(program, command.name()) ? "; ids=1" : ""} ;;`;
  });
  return `# bash completion for planwright. In ~/.bashrc:  source <(planwright completion bash)
_planwright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" word words files=0 ids=0 skip=0
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if (( skip )); then skip=0; continue; fi
    case "$word" in
      ${valueOptions(program).join("|")}) skip=1 ;;
      -*) ;;
      *) command="$word"; break ;;
    esac
  done
  case "$command" in
    "") words="${[...names, "help", ...common].join(" ")}" ;;
${cases.join("\n")}
    help) words="${names.join(" ")}" ;;
    *) words="${common.join(" ")}" ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
  if (( files )) && [[ "$current" != -* ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=( $(compgen -f -- "$current") )
  fi
  if (( ids )) && [[ "$current" != -* && "\${COMP_WORDS[COMP_CWORD-1]}" == "$command" ]]; then
    words="$(planwright complete -- "$command" "$current" 2>/dev/null | grep -o '^req_[a-z0-9_]*')"
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
  fi
}
complete -F _planwright planwright
`;
}

function optionsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), "--help"].filter(
    (name, index, all) => all.indexOf(name) === index,
  );
}

/** Options of the program that are followed by a value. */
function valueOptions(program: Command): string[] {
  return program.options.flatMap(({ long, required }) => (required && long ? [long] : []));
}

/** Fixed words that the arguments and options of a command accept. */
function choicesOf(command: Command): string[] {
  const all = [...command.registeredArguments, ...command.options];
  return all.flatMap(({ argChoices }) => argChoices ?? []);
}
