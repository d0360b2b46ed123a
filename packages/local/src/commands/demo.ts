import { randomInt } from "node:crypto";
import { apiPortOf } from "../start-service.ts";
import { type Stack, startStack } from "../start-stack.ts";
import { DATA_DIR, folderOrSystem, printError, stopOnSignals } from "./program.ts";
import { type ApiAddress, exampleSentence, planwrightCommand, runDemo } from "./run-demo.ts";

const say = (line: string) => console.log(line);

/**
 * `planwright demo`: starts everything, or uses the system that `planwright up` runs from this folder; sends one
 * sentence, shows the progress and the result. Ends the process: with 0 when the plan is COMPLETED, else with 1.
 * @param words - of the sentence. Default: an example
 */
export async function demo(words: readonly string[]): Promise<never> {
  // An e-mail address belongs to one author, so each run of the example uses a new one.
  const sentence = words.join(" ").trim() || exampleSentence(randomInt(1_000, 1_000_000));
  let stack: Stack | undefined;
  const stop = stopOnSignals(() => stack);

  /** The system that `planwright up` runs from this folder, or else a new stack. */
  async function systemForDemo(): Promise<ApiAddress> {
    const found = await folderOrSystem(say);
    if (found.type === "system") {
      say(`Using the running system at ${found.apiUrl}\n`);
      return { apiUrl: found.apiUrl, apiKey: process.env["PLANWRIGHT_API_KEY"] || undefined };
    }
    say("Starting MongoDB, the blog tools, the executor, the planner and the API ...");
    const startedAt = performance.now();
    stack = await startStack({ dataDir: DATA_DIR, isTogether: true, isSupervised: true, say });
    say(`Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s.\n`);
    return stack;
  }

  try {
    // This system ends with the demo; the one that `planwright up` would run has this port.
    const nextUrl = `http://127.0.0.1:${apiPortOf(process.env)}/graphql`;
    const api = await systemForDemo();
    const shownUrl = stack ? nextUrl : api.apiUrl;
    const { isCompleted, requestId } = await runDemo(api, sentence, { say, shownUrl });
    const first = stack ? "keep the system running with npx planwright up, then in another terminal: " : "";
    say(`See all of it: ${first}${planwrightCommand(shownUrl, "debug", requestId)}`);
    process.exitCode = isCompleted ? 0 : 1;
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
  await stop();
  process.exit();
}
