import type { Command } from "commander";

/** Commands whose argument is a file. */
const TAKES_FILE: ReadonlySet<string> = new Set(["submit", "validate"]);

/** True for a command whose argument is a file. */
export const takesFile = (command: string): boolean => TAKES_FILE.has(command);

/** True for the name of a command whose first argument is the id of a request. */
export function takesRequestId(program: Command, name: string | undefined): boolean {
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
export function valueOptions(program: Command): string[] {
  return program.options.flatMap(({ long, required }) => (required && long ? [long] : []));
}

/** Fixed words that the arguments and options of a command accept. */
function choicesOf(command: Command): string[] {
  const all = [...command.registeredArguments, ...command.options];
  return all.flatMap(({ argChoices }) => argChoices ?? []);
}
