// For `npm run dev`: bundles a program in two files. The libraries, nine tenths of the code, are bundled once,
// with their compiled code; a change of a source bundles only the sources again.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { bundleProgram, storeCompiled } from "./bundle-program.mjs";

const isSource = (id) => /^[./]/.test(id) || id.startsWith("@planwright/");
/** The module that stands for a library: the file of the library follows. */
const LIBRARY = "\0library:";

/** What the bundled libraries depend on: the versions that are installed, and these scripts. */
const version = () => {
  const hash = createHash("sha256");
  for (const path of ["../../package-lock.json", "bundle-apart.mjs", "bundle-program.mjs"])
    hash.update(readFileSync(new URL(path, import.meta.url)));
  return hash.digest("hex");
};

/** The names that each library exports which an earlier run has bundled; empty when there are none. */
function readNames(folder) {
  try {
    const stored = JSON.parse(readFileSync(join(folder, "names.json"), "utf8"));
    return new Map(stored.version === version() ? stored.names : []);
  } catch (error) {
    if (error.code === "ENOENT") return new Map();
    throw error;
  }
}

/** Writes the libraries as one object by their files. Returns the names that each exports. */
async function bundleLibraries(files, folder) {
  mkdirSync(folder, { recursive: true });
  const main = join(folder, "libraries.mjs");
  const imports = files.map((file, index) => `import * as library${index} from ${JSON.stringify(file)};\n`);
  const members = files.map((file, index) => `${JSON.stringify(file)}: library${index},\n`);
  writeFileSync(main, `${imports.join("")}export const libraries = {\n${members.join("")}};\n`);
  await bundleProgram({ main, folder });
  const start = storeCompiled(folder, []);
  const list = `
    const named = Object.entries(require(${JSON.stringify(start)}).libraries);
    process.stdout.write(JSON.stringify(named.map(([file, library]) => [file, Object.keys(library)])));
    process.exit();`;
  const { stdout } = spawnSync(process.execPath, ["-e", list], { maxBuffer: 64 * 1_048_576 });
  const names = JSON.parse(stdout);
  writeFileSync(join(folder, "names.json"), JSON.stringify({ version: version(), names }));
  return new Map(names);
}

/** A module with the exports of a library that the bundle of the libraries contains. */
function standInOf(file, names) {
  const exported = names.filter((name) => name !== "default" && /^[\w$]+$/.test(name));
  return [
    `import all from "libraries";`,
    `const library = all.libraries[${JSON.stringify(file)}];`,
    ...exported.map((name, index) => `const export${index} = library.${name};`),
    `export { ${exported.map((name, index) => `export${index} as ${name}`).join(", ")} };`,
    "export default library.default;",
  ].join("\n");
}

/**
 * Returns a function that bundles the program as its sources are now, with source maps.
 *
 * @param {{ main: string, folder: string }} files - absolute paths: the source of the program, and the folder
 *   that receives `bundle.cjs`
 */
export function createApartBundler({ main, folder }) {
  const libraries = join(folder, "libraries");
  let known = readNames(libraries);

  return async function bundle() {
    for (;;) {
      const unknown = new Set();
      const standIns = {
        name: "libraries-apart",
        async resolveId(id, importer) {
          if (id === "libraries") return { id: join(libraries, "start.cjs"), external: true };
          if (isSource(id) || isBuiltin(id) || importer === undefined) return null;
          const found = await this.resolve(id, importer, { skipSelf: true });
          if (!found || found.external) return found;
          if (known.has(found.id)) return `${LIBRARY}${found.id}`;
          unknown.add(found.id);
          return { id: found.id, external: true };
        },
        load(id) {
          if (!id.startsWith(LIBRARY)) return null;
          const file = id.slice(LIBRARY.length);
          return standInOf(file, known.get(file));
        },
      };
      await bundleProgram({ main, folder, plugins: [standIns], sourcemap: true });
      if (unknown.size === 0) return;
      known = await bundleLibraries([...known.keys(), ...unknown], libraries);
    }
  };
}
