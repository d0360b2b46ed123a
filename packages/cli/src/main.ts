import { readFileSync } from "node:fs";
import process from "node:process";
import { runProgram } from "./run-program.ts";

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);
await runProgram(process.argv.slice(2), { version, host: process });
