// npm run image -- planwright [--folder F]: follows infra/docker/service.Dockerfile without Docker, into a folder: the
// files that the image of a service has, for machines without a Docker engine. Node, the user and the file
// system are those of this machine.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" } },
});
const [service] = positionals;
if (!existsSync(join(root, "services", service ?? "", "src", "main.ts"))) {
  console.error("Which service? npm run image -- planwright | blog-tools");
  process.exit(1);
}
const folder = values.folder ?? mkdtempSync(join(tmpdir(), "planwright-image-"));

/** The lines of a file that are neither empty nor comments. */
const linesOf = (text) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const patterns = linesOf(readFileSync(join(root, ".dockerignore"), "utf8")).map((pattern) =>
  pattern.replace("**/", "").replaceAll(".", "\\.").replaceAll("*", "[^/]*"),
);
const IGNORED = new RegExp(`(?:^|/)(?:${patterns.join("|")})(?:/|$)`);
/** Folder of each stage, by its name; a stage without a name is the image. */
const stages = new Map();
let stage = { folder: "", workDir: "/" };
const env = { ...process.env, SERVICE: service };

const steps = {
  FROM(words) {
    const name = words[2] ?? "image";
    stage = { folder: join(folder, name), workDir: "/" };
    rmSync(stage.folder, { recursive: true, force: true });
    stages.set(name, stage.folder);
  },
  ENV(words) {
    for (const word of words) {
      const [name, value] = word.split("=");
      env[name] = filled(value);
    }
  },
  WORKDIR([path]) {
    stage.workDir = filled(path);
    mkdirSync(inStage(stage.workDir), { recursive: true });
  },
  COPY(words) {
    const options = words.filter((word) => word.startsWith("--"));
    const from = options.find((option) => option.startsWith("--from="))?.slice("--from=".length);
    const base = from === undefined ? root : stages.get(from);
    const paths = words.filter((word) => !word.startsWith("--")).map(filled);
    const to = paths.pop();
    for (const path of paths.flatMap((pattern) => matching(pattern, base))) {
      const source = join(base, path);
      const target = inStage(stage.workDir, to, statSync(source).isFile() ? basename(path) : "");
      const isKept = (file) => from !== undefined || !IGNORED.test(file.slice(root.length + 1));
      cpSync(source, target, { recursive: true, verbatimSymlinks: true, filter: isKept });
    }
  },
  RUN(words) {
    const cwd = inStage(stage.workDir);
    const { status } = spawnSync("sh", ["-c", words.join(" ")], { cwd, env, stdio: ["ignore", 2, 2] });
    if (status !== 0) process.exit(status ?? 1);
  },
};
/** The paths below `base` that a pattern with `*` in its last part means; another path is itself. */
function matching(pattern, base) {
  if (!pattern.includes("*")) return [pattern];
  const [before, after] = basename(pattern).split("*");
  return readdirSync(join(base, dirname(pattern)))
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .map((name) => join(dirname(pattern), name));
}
const inStage = (...paths) => join(stage.folder, ...paths);
const filled = (text) => text.replace(/\$\{(\w+)\}/g, (_, name) => env[name] ?? "");

const dockerfile = readFileSync(join(root, "infra", "docker", "service.Dockerfile"), "utf8");
for (const line of linesOf(dockerfile.replace(/\\\n/g, " "))) {
  const [instruction, ...words] = line.trim().split(/\s+/);
  steps[instruction]?.(words);
}
console.log(join(stages.get("image"), stage.workDir));
