import { Command, InvalidArgumentError } from "commander";

/**
 * A command that developers call as `npm run <name> -- <options>`. It has `--help`. A wrong option ends it
 * with one line of explanation and the exit code 1, without a stack trace.
 * @param name - the words after `npm run`, such as "bench -- api"
 */
export function developerCommand(name: string, description: string): Command {
  return new Command(name.includes(" -- ") ? `npm run ${name}` : `npm run ${name} --`)
    .description(description)
    .allowExcessArguments(false)
    .showHelpAfterError("(--help shows every option)");
}

/** Reads a whole number from `min` to `max`. */
export function wholeNumberOption(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}`);
  };
}

/** Reads a number up to `max`: at least `min`, or above 0 without `min`. */
export function numberOption(max: number, min?: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    const isEnough = min === undefined ? number > 0 : number >= min;
    if (text.trim() !== "" && isEnough && number <= max) return number;
    throw new InvalidArgumentError(
      min === undefined ? `Give a number above 0, ${max} at most` : `Give a number from ${min} to ${max}`,
    );
  };
}

/** Reads one of these words. */
export function wordOption(words: readonly string[]): (text: string) => string {
  return (text) => wordIn(words, text, "Give one of");
}

/** Reads any number of these words, for an option such as `--only <name...>`. */
export function wordsOption<Word extends string>(
  words: readonly Word[],
): (text: string, before: readonly Word[]) => Word[] {
  return (text, before) => [...before, wordIn(words, text, "Give one or more of")];
}

function wordIn<Word extends string>(words: readonly Word[], text: string, advice: string): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`${advice} ${words.join(", ")}`);
}

/** Writes a line of the result to standard output. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes a line about the progress to standard error. Standard output has only the result. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Prints the result as one line of JSON, the last one of standard output. */
export const printJson = (result: object): void => print(JSON.stringify(result));

/** Rows of cells as lines. The first column is aligned to the left, the others to the right. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  "),
  );
}
