import { commandLine } from "@planwright/client";

/** Makes a command that a user can copy, such as `planwright watch req_…`. */
export type CommandLine = (...words: string[]) => string;

/**
 * @param program - how this program was called, such as "npx planwright"
 * @param url - the value of --url, so that the next command uses the same API
 */
export function createCommandLine({
  program,
  url,
}: {
  program: string;
  url?: string | undefined;
}): CommandLine {
  const options = url === undefined ? [] : ["--url", url];
  return (...words) => `${program} ${commandLine(...words, ...options)}`;
}
