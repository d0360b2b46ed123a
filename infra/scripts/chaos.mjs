// npm run chaos -- [--plans 200] [--faults 30] [--seed 7] [--json]: builds what changed, and runs the system
// under faults.
import { build, runSource } from "./run-source.mjs";

build();
runSource("chaos/main.ts", process.argv.slice(2));
