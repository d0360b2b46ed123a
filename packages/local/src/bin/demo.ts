#!/usr/bin/env node
// npm run demo [-- "a sentence"]: starts everything in a folder of its own, sends the sentence, shows what became of it.
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { dropDatabases } from "../demo/drop-databases.ts";
import { DEFAULT_SENTENCE, runDemo } from "../demo/run-demo.ts";
import { holdFolder } from "../stack/hold-folder.ts";
import { type Stack, startStack } from "../stack/start-stack.ts";
import { stopOnSignals, tellError } from "./terminal.ts";

const sentence = process.argv.slice(2).join(" ").trim() || DEFAULT_SENTENCE;
const say = (line: string) => console.log(line);

/** `.data/demo`, or a numbered one beside it while other demos run. Starts empty. */
async function ownFolder(): Promise<{ dataDir: string; name: string }> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "demo" : `demo-${number}`;
    const dataDir = join(".data", name);
    if (await holdFolder(dataDir)) {
      rmSync(dataDir, { recursive: true, force: true });
      return { dataDir, name };
    }
  }
}

let stack: Stack | undefined;
const stop = stopOnSignals(() => stack);
try {
  const { dataDir, name } = await ownFolder();
  const database = `planwright_${name.replace("-", "_")}`;
  await dropDatabases(process.env["MONGODB_URL"], [database, `${database}_blog`]);
  const env = { ...process.env, QUEUE_PREFIX: `${database}_${Date.now()}` };
  say("Starting MongoDB, Redis, the blog tools, the executor, the planner and the API ...");
  const startedAt = performance.now();
  stack = await startStack({ dataDir, database, env, say });
  say(`Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s.\n`);
  const isCompleted = await runDemo(stack, sentence, say);
  say(`Logs and data are in ${relative(process.cwd(), dataDir)}. To keep the system running: npm start`);
  process.exitCode = isCompleted ? 0 : 1;
} catch (error) {
  tellError(error);
  process.exitCode = 1;
}
await stop();
process.exit();
