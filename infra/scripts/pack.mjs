// npm run pack [-- --to FOLDER]: writes the npm package `planwright` into packages/cli/package, from the built
// programs: the command, the services that `planwright up` starts, and the console. Fails when that is larger to
// download than a person waits for. With a folder, npm packs it and the libraries of this repository that are published
// into that folder.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const out = join(root, "packages", "cli", "package");
/** The most that npm downloads of the package, in bytes, without the optional packages of the database. */
const MAX_PACKED_BYTES = 15_000_000;
const { values } = parseArgs({ options: { to: { type: "string" } } });
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** Copies a file or folder of the repository into the package. */
function copy(from, to) {
  const source = join(root, from);
  if (!existsSync(source)) throw new Error(`${from} is missing. Run: npm run build`);
  mkdirSync(dirname(join(out, to)), { recursive: true });
  cpSync(source, join(out, to), { recursive: true });
}

/** Copies a built program: its bundle, the file that loads it, and its threads. Compiled code is of one machine. */
function copyProgram(from, to) {
  const names = readdirSync(join(root, from)).filter((name) => name === "main.js" || name.endsWith(".cjs"));
  for (const name of names) copy(join(from, name), join(to, name));
}

rmSync(out, { recursive: true, force: true });
copyProgram("packages/cli/dist", "dist");
copy("packages/cli/bin", "bin");
copy("packages/cli/README.md", "README.md");
copy("LICENSE", "LICENSE");
for (const name of ["planwright", "blog-tools"])
  copyProgram(`services/${name}/dist`, `services/${name}/dist`);
for (const [name, program] of [
  ["planner", "check-settings"],
  ["executor", "check-settings"],
  ["api", "operate"],
]) {
  copyProgram(`services/${name}/dist/${program}`, `services/${name}/dist/${program}`);
  copy(`services/${name}/dist/bin/${program}.js`, `services/${name}/dist/bin/${program}.js`);
}
// What packageFile of packages/runtime finds beside the bundle of the API.
const files = "services/planwright/dist/files";
copy("services/console/dist", `${files}/@planwright/console/dist`);
for (const name of readdirSync(join(root, "services/api/src/graphql")).filter((name) =>
  name.endsWith(".graphql"),
))
  copy(`services/api/src/graphql/${name}`, `${files}/@planwright/api/src/graphql/${name}`);
for (const file of [
  "graphiql/dist/style.css",
  "graphiql/dist/index.umd.js",
  "react/umd/react.production.min.js",
  "react-dom/umd/react-dom.production.min.js",
])
  copy(`node_modules/${file}`, `${files}/${file}`);

const { name, version, description, license, type, engines, bin, keywords } =
  readJson("packages/cli/package.json");
const { optionalDependencies } = readJson("packages/local/package.json");
const published = {
  name,
  version,
  description,
  keywords,
  license,
  type,
  engines,
  bin,
  optionalDependencies,
  publishConfig: { access: "public", provenance: true },
};
writeFileSync(join(out, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
writeFileSync(join(out, "THIRD-PARTY-NOTICES.txt"), notices());

/** The licences of the packages that the programs contain: everything that they depend on. */
function notices() {
  const { packages } = readJson("package-lock.json");
  const bundled = ["packages/cli", "services/planwright", "services/blog-tools", "services/console"];
  const found = new Set(bundled);
  for (const path of found)
    for (const dependency of Object.keys(packages[path].dependencies ?? {})) {
      const installed = installedFor(path, dependency, packages);
      if (installed !== undefined)
        found.add(packages[installed].link ? packages[installed].resolved : installed);
    }
  return [...found]
    .filter((path) => path.includes("node_modules/"))
    .sort()
    .map((path) => {
      const title = `${path.split("node_modules/").at(-1)} ${packages[path].version} (${packages[path].license})`;
      const texts = readdirSync(join(root, path)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
      return [title, ...texts.map((file) => readFileSync(join(root, path, file), "utf8").trim())].join(
        "\n\n",
      );
    })
    .join(`\n\n${"-".repeat(80)}\n\n`);
}

/** Where npm has installed a dependency of a package; undefined for one of another platform. */
function installedFor(path, dependency, packages) {
  for (let folder = path; ; folder = dirname(folder)) {
    const candidate = folder === "." ? `node_modules/${dependency}` : `${folder}/node_modules/${dependency}`;
    if (basename(folder) !== "node_modules" && packages[candidate] && existsSync(join(root, candidate)))
      return candidate;
    if (folder === ".") return undefined;
  }
}

/** Bytes that npm downloads of the package. */
function packedBytes() {
  const asked = ["pack", "--dry-run", "--json", "--silent", "--ignore-scripts"];
  const { status, stdout } = spawnSync("npm", asked, { cwd: out, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${asked.join(" ")} failed (${status})`);
  return JSON.parse(stdout)[0].size;
}

const sizeBytes = packedBytes();
const megabytes = (bytes) => `${(bytes / 1_000_000).toFixed(1)} MB`;
console.error(`planwright is ${megabytes(sizeBytes)} to download; ${megabytes(MAX_PACKED_BYTES)} at most.`);
if (sizeBytes > MAX_PACKED_BYTES) throw new Error(`planwright has become too large: ${megabytes(sizeBytes)}`);

if (values.to !== undefined) {
  const to = resolve(values.to);
  mkdirSync(to, { recursive: true });
  const libraries = ["plan", "engine", "client", "tool-kit", "test-kit", "create-planwright"].map((library) =>
    join(root, "packages", library),
  );
  const packed = spawnSync(
    "npm",
    ["pack", "--silent", "--ignore-scripts", "--pack-destination", to, out, ...libraries],
    {
      cwd: to,
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  process.exitCode = packed.status ?? 1;
}
