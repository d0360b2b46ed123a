/** Writes a line of the result to standard output. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes a line about the progress to standard error. Standard output has only the result. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Prints the result as one line of JSON, the last one of standard output. */
export const printJson = (result: object): void => print(JSON.stringify(result));
