// npm run evals -- [--model openai:<model>] [--domain <name>] [--update] [--json] [--max-seconds 60]:
// measures the quality of plans.
import { runSource } from "./run-source.mjs";

runSource("evals/main.ts", process.argv.slice(2));
