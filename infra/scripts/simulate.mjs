// npm run simulate -- [--seeds 10000 | --seed 1234 | --mutants]: runs the simulation.
import { runSource } from "./run-source.mjs";

runSource("simulation/main.ts", process.argv.slice(2));
