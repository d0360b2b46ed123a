#!/usr/bin/env node
// A file that exists before the build, so that npm links the command at installation.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write("planwright is not built yet. Run: npm run build\n");
  process.exitCode = 2;
}
