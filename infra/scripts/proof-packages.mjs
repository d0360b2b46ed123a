// npm run proof:packages: publishes the npm packages in a registry on this machine, and uses them as a new user
// does, in empty folders: npx planwright demo, npm create planwright, and scripts with the libraries, compiled by TypeScript. Needs the
// network: the registry, verdaccio, has hundreds of packages and stays outside npm ci; it gets all other packages
// from npm's.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "@planwright/local";
import { build } from "./run-source.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** The last that runs on Node 20. */
const VERDACCIO = "6.1.6";
const TYPESCRIPT = "typescript@5.9";

const folder = mkdtempSync(join(tmpdir(), "planwright-proof-"));
const running = [];

/** An empty folder. */
function empty(name) {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

/** Runs a command to its end, and prints how long it took. Returns what it printed. */
function run(command, args, options) {
  const startedAt = performance.now();
  const { status, stdout, error } = spawnSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    ...options,
  });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(" ")} failed (${error ?? status})\n${stdout}`);
  console.log(`${seconds} s  ${command} ${args.join(" ")}`);
  return stdout;
}

/** Starts a program and waits until this address answers. */
async function start(command, args, options, url) {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"], ...options });
  running.push(child);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${command} ${args.join(" ")} ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await delay(200);
  }
}

async function startRegistry() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const cwd = empty("registry");
  const npmRegistry = run("npm", ["config", "get", "registry"], { cwd }).trim();
  // The tag of node-fetch that one of its packages names is not in every registry.
  const needs = { dependencies: { verdaccio: VERDACCIO }, overrides: { "node-fetch": "2.7.0" } };
  writeFileSync(join(cwd, "package.json"), JSON.stringify(needs));
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd });
  const everyone = { access: "$all", publish: "$all", unpublish: "$all" };
  const config = {
    storage: join(cwd, "storage"),
    uplinks: { npm: { url: npmRegistry, timeout: "120s" } },
    packages: {
      planwright: everyone,
      "create-planwright": everyone,
      "@planwright/*": everyone,
      "**": { access: "$all", proxy: "npm" },
    },
    max_body_size: "100mb",
    log: { type: "stdout", level: "warn" },
  };
  writeFileSync(join(cwd, "config.yaml"), JSON.stringify(config));
  const program = join(cwd, "node_modules", "verdaccio", "bin", "verdaccio");
  const options = ["--config", join(cwd, "config.yaml"), "--listen", `127.0.0.1:${port}`];
  await start(process.execPath, [program, ...options], { cwd }, `${url}-/ping`);
  const npmrc = join(folder, "npmrc");
  // npm publishes with a token only; this registry asks for none.
  writeFileSync(npmrc, `registry=${url}\n//127.0.0.1:${port}/:_authToken=none\n`);
  // npx keeps what it has installed by name and version, and must not find that of an earlier proof. Downloads,
  // such as the database, are those of npm.
  const cache = empty("cache");
  symlinkSync(
    join(run("npm", ["config", "get", "cache"], { cwd }).trim(), "_cacache"),
    join(cache, "_cacache"),
  );
  return {
    ...process.env,
    npm_config_userconfig: npmrc,
    npm_config_registry: url,
    npm_config_cache: cache,
    npm_config_loglevel: "error",
  };
}

const CLIENT_SCRIPT = `
import { createClient } from "@planwright/client";
import { definePlan } from "./tools.js";

const client = createClient({ url: process.argv[2] ?? "" });
const plan = definePlan({
  steps: [
    { id: "author", tool: "createAuthor", arguments: { name: "Ada", email: "ada@test.com" } },
    { id: "blog", tool: "createBlog", arguments: { authorId: "<<author._id>>", title: "Hi", content: "Engines" } },
  ],
  outputs: ["author"],
});
const { status, plan: ended, diagnosis } = await client.run(plan);
console.log(status, diagnosis.cause.code, JSON.stringify(ended?.outputs));
`;

const LIBRARIES_SCRIPT = `
import { runPlan } from "@planwright/engine";
import { parsePlan } from "@planwright/plan";
import { defineTool } from "@planwright/tool-kit";
import { z } from "zod";

const add = defineTool({
  name: "add",
  description: "Add two numbers",
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  contract: { mode: "parallel-safe", side_effects: false },
  run: ({ a, b }) => ({ sum: a + b }),
});
const plan = { steps: [{ id: "sum", tool: "add", arguments: { a: 1, b: 2 } }], outputs: ["sum"] };
console.log(parsePlan(plan).ok, add.name);
const { status, outputs } = await runPlan(plan, { tools: [{ name: "add" }], callTool: () => ({ sum: 3 }) });
console.log(status, JSON.stringify(outputs));
`;

/** Installs packages in an empty folder, compiles a script with them, and runs it. Returns what it printed. */
function runScript(name, { script, packages, files = {}, args = [] }, env) {
  const cwd = empty(name);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(cwd, "script.ts"), script);
  run("npm", ["install", "--no-audit", "--no-fund", ...packages, TYPESCRIPT, "@types/node@20"], { cwd, env });
  const strict = [
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "node",
    "--skipLibCheck",
    "false",
  ];
  run("npx", ["tsc", ...strict, "script.ts"], { cwd, env });
  return run(process.execPath, ["script.js", ...args], { cwd, env });
}

function expectIn(text, ...parts) {
  for (const part of parts) if (!text.includes(part)) throw new Error(`${part} is missing in:\n${text}`);
}

build();
try {
  run(process.execPath, [join(root, "infra", "scripts", "pack.mjs"), "--to", empty("packed")], { cwd: root });
  const env = await startRegistry();
  const packed = join(folder, "packed");
  for (const name of readdirSync(packed))
    run("npm", ["publish", "--provenance=false", "--ignore-scripts", join(packed, name)], {
      cwd: packed,
      env,
    });

  const home = empty("home");
  expectIn(
    run("npx", ["--yes", "planwright", "demo"], { cwd: home, env }),
    "createBlog  COMPLETED",
    "planned by offline",
  );

  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await start(
    "npx",
    ["--yes", "planwright", "up"],
    { cwd: home, env: { ...env, PORT: String(port) } },
    `${address}/readyz`,
  );
  for (const [path, part] of [
    ["/console", "<div id="],
    ["/graphiql", "graphiql"],
    ["/graphiql/graphiql.js", "GraphiQL"],
  ])
    expectIn(await (await fetch(address + path)).text(), part);
  const here = ["--url", `${address}/graphql`];
  const types = run("npx", ["planwright", "types", ...here], { cwd: home, env });
  const client = {
    script: CLIENT_SCRIPT,
    packages: ["@planwright/client"],
    files: { "tools.ts": types },
    args: [`${address}/graphql`],
  };
  expectIn(runScript("client", client, env), "COMPLETED COMPLETED", '"email":"ada@test.com"');
  const tools = run("npx", ["planwright", "tools", ...here], { cwd: home, env });
  expectIn(tools, "createAuthor");

  const packages = ["@planwright/engine", "@planwright/plan", "@planwright/tool-kit", "zod"];
  expectIn(
    runScript("libraries", { script: LIBRARIES_SCRIPT, packages }, env),
    "true add",
    'COMPLETED {"sum":{"sum":3}}',
  );

  const apps = empty("apps");
  run("npm", ["create", "--yes", "planwright", "my-app"], { cwd: apps, env });
  const app = join(apps, "my-app");
  run("npm", ["install", "--no-audit", "--no-fund"], { cwd: app, env });
  expectIn(run("npm", ["test"], { cwd: app, env }), "# pass 3");
  const appPort = await freePort();
  const appAddress = `http://127.0.0.1:${appPort}`;
  await start("npm", ["start"], { cwd: app, env: { ...env, PORT: String(appPort) } }, `${appAddress}/readyz`);
  const ordered = run("npm", ["run", "order"], {
    cwd: app,
    env: { ...env, PLANWRIGHT_URL: `${appAddress}/graphql` },
  });
  expectIn(ordered, "COMPLETED", '"orderId":"order-1"');
  console.log("The packages install from a registry, and work.");
} finally {
  for (const child of running.reverse()) {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
