/** The crash points that run: those that kill the process, those that suspend it or make it fail, or all. */
const CHOICES = { kill: [true], rest: [false], all: [true, false] } as const;

/**
 * The crash points of this run. A test run has those that kill. The environment variable CRASH_POINTS chooses
 * `kill`, `rest` (suspend, fail), which `npm run proof` runs, or `all`.
 *
 * @param settings - all crash points, such as `executor.result.before=kill@2`
 * @throws {TypeError} for another value of the variable
 */
export function crashPoints<Case extends { setting: string }>(settings: readonly Case[]): Case[] {
  const choice = process.env["CRASH_POINTS"] ?? "kill";
  if (!(choice in CHOICES)) throw new TypeError(`CRASH_POINTS=${choice} is not kill, rest or all`);
  const chosen: readonly boolean[] = CHOICES[choice as keyof typeof CHOICES];
  return settings.filter(({ setting }) => chosen.includes(setting.includes("=kill")));
}
