// npm run docs -- [--base /0.1/]: makes the documentation site in infra/docs/dist/site. The pages come from the
// documents and the code. VitePress has its own lock file, and is installed when it is used for the first time.
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { run, runSource } from "./run-source.mjs";

const { base } = parseArgs({ options: { base: { type: "string", default: "/" } } }).values;
if (!/^\/(?:.*\/)?$/.test(base)) {
  console.error(`--base is "${base}": begin and end it with a slash, such as /0.1/`);
  process.exit(1);
}
const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "docs");
const changedAt = (path) => (existsSync(join(folder, path)) ? statSync(join(folder, path)).mtimeMs : 0);

runSource("site/main.ts", []);
if (changedAt("node_modules/.package-lock.json") < changedAt("package-lock.json"))
  run("npm", ["ci", "--ignore-scripts", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
const vitepress = join(folder, "node_modules", ".bin", "vitepress");
run(vitepress, ["build", folder], { stdio: "inherit", env: { ...process.env, DOCS_BASE: base } });
console.log(`The site is in ${join(folder, "dist", "site")}`);
