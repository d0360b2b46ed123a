/**
 * What a newcomer waits for on this machine: `git clone` of this repository into an empty folder, `npm ci`, and
 * `npm run demo` until its first result. Each stage runs in a pseudo-terminal (`script`), as a person sees it: the
 * longest time without a character on the screen is measured too. The exit code is 1 when a stage failed, or the demo
 * showed no completed plan. What is not committed is not cloned.
 *
 * npm run bench -- first-result [--json]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { commandLine } from "@planwright/client";
import { developerCommand, printJson, say } from "../command/developer-command.ts";

const { json } = developerCommand(
  "bench -- first-result",
  "Measures the way from a clone to the first result.",
)
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ json: boolean }>();

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** What the demo prints first of a plan that it has executed. */
const RESULT = "COMPLETED in ";

interface StageFigures {
  stage: string;
  seconds: number;
  /** The longest time without output, in seconds. */
  silentSeconds: number;
  /** The last line on the screen before that time. */
  silentAfter: string;
  /** The load average of the last minute, at the end. */
  load: number;
}

/**
 * Runs a command in a pseudo-terminal until it ends, or until it has printed a text.
 * @throws {TypeError} when it fails, or ends without that text; its last output is in the message
 */
async function runStage(words: readonly string[], cwd: string, until?: string): Promise<StageFigures> {
  const stage = commandLine(...words);
  const startedAt = performance.now();
  const child = spawn("script", ["-qec", stage, "/dev/null"], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let output = "";
  let lastAt = startedAt;
  let resultAt: number | undefined;
  let silentMs = 0;
  let silentAfter = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const at = performance.now();
    if (resultAt === undefined && at - lastAt > silentMs) {
      silentMs = at - lastAt;
      silentAfter = lastText(output);
    }
    lastAt = at;
    output += chunk.toString();
    if (until !== undefined && output.includes(until)) resultAt ??= at;
  });
  const [code] = await ended;
  if (code !== 0 || (until !== undefined && resultAt === undefined))
    throw new TypeError(`${stage} failed (${code}):\n${output.slice(-4_000)}`);
  const seconds = ((resultAt ?? performance.now()) - startedAt) / 1_000;
  return { stage, seconds, silentSeconds: silentMs / 1_000, silentAfter, load: loadavg()[0] ?? 0 };
}

/** The last words on the screen, without spinners and colours. */
function lastText(output: string): string {
  const lines = stripVTControlCharacters(output).split(/[\r\n]+/);
  const texts = lines.map((line) => line.replaceAll(/[\u2800-\u28ff]/g, "").trim());
  return texts.findLast((line) => line !== "") ?? "";
}

const folder = await mkdtemp(join(tmpdir(), "planwright-first-result-"));
const clone = join(folder, "planwright");
const stages: StageFigures[] = [];
try {
  for (const [words, cwd, until] of [
    [["git", "clone", "--no-local", ROOT, clone], folder, undefined],
    [["npm", "ci"], clone, undefined],
    [["npm", "run", "demo"], clone, RESULT],
  ] as const) {
    const figures = await runStage(words, cwd, until);
    stages.push(figures);
    const { stage, seconds, silentSeconds, silentAfter, load } = figures;
    say(`${seconds.toFixed(1).padStart(6)} s  ${stage}  (load ${load.toFixed(1)})`);
    say(`          longest without output ${silentSeconds.toFixed(1)} s, after: ${silentAfter}`);
  }
  const totalSeconds = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  say(`${totalSeconds.toFixed(1).padStart(6)} s  from the clone to the first result`);
  if (json) printJson({ totalSeconds, stages });
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
