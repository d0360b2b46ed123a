// node infra/scripts/bundle.mjs [--main src/main.ts] [--folder dist] [--entry dist/main.js] [--end-with ARG]... [--small]
//
// Bundles a program of this repository from its source, with everything that it imports, and stores it with its
// compiled code: Node starts it in a quarter of the processor time that single modules need. Writes the bundle
// and `start.cjs`, which loads it, into the folder, and a module that starts it as the entry.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleProgram, storeCompiled } from "./bundle-program.mjs";

const { values } = parseArgs({
  options: {
    main: { type: "string", default: "src/main.ts" },
    folder: { type: "string", default: "dist" },
    entry: { type: "string" },
    // Arguments with which the program ends by itself, in an empty environment; the functions that it uses until
    // then are stored compiled.
    "end-with": { type: "string", multiple: true, default: [] },
    // It is also started with a small young generation.
    small: { type: "boolean", default: false },
  },
});
const folder = resolve(values.folder);
await bundleProgram({ main: resolve(values.main), folder });
const start = storeCompiled(folder, values["end-with"], { isSmall: values.small });
if (values.entry !== undefined) {
  const entry = resolve(values.entry);
  const path = relative(dirname(entry), start).replaceAll("\\", "/");
  mkdirSync(dirname(entry), { recursive: true });
  writeFileSync(entry, `import "${path.startsWith(".") ? path : `./${path}`}";\n`);
}
