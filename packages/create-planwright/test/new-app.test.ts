/** What npm create planwright writes, and the path of a new user from there, typed. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@planwright/local";
import { readmeBlocks, testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CREATE = `${ROOT}node_modules/.bin/tsx ${ROOT}packages/create-planwright/src/main.ts`;

/** A folder inside the repository, so that an app in it finds the packages of the workspace. */
function newFolder(): string {
  mkdirSync(join(ROOT, ".data"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".data", "new-app-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}

/** What breaks the tool. */
const BREAK = 'if (quantity > 1) throw new Error("out of paper");\n';

/** Runs a line as it is typed. */
function type(line: string, cwd: string, settings: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, ...settings };
  // Those of the runner of this test would be those of the runner in the app.
  for (const name of ["NODE_OPTIONS", "NODE_TEST_CONTEXT", "VITEST", "NODE_ENV"]) delete env[name];
  const { status, stdout, stderr } = spawnSync("sh", ["-c", line], { cwd, env, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

function edit(file: string, change: (text: string) => string): void {
  const before = readFileSync(file, "utf8");
  const after = change(before);
  if (after === before) throw new TypeError(`${file} has not changed`);
  writeFileSync(file, after);
}

/** Runs a line until it is stopped. */
function start(line: string, cwd: string, settings: NodeJS.ProcessEnv) {
  const child: ChildProcess = spawn("sh", ["-c", line], {
    cwd,
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a separate process group, as for each command of a terminal
  });
  let shown = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
    });
  const ended = once(child, "exit");
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
  });
  return {
    ended,
    output: () => shown,
    /** Resolves when it has printed this so many times. */
    async printed(what: RegExp, times = 1): Promise<void> {
      const count = () => (shown.match(new RegExp(what, "g")) ?? []).length;
      await expect.poll(count, { timeout: 180_000 }).toBeGreaterThanOrEqual(times);
    },
    press: (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal),
  };
}

test("create, test, change a tool, run, break it, read the message, fix it, run again", {
  tags: ["proof"],
  timeout: 600_000,
}, async () => {
  const folder = newFolder();
  const created = type(`${CREATE} my-app`, folder);
  expect(created).toMatchObject({
    status: 0,
    output: expect.stringMatching(/cd my-app\n {2}npm install\n {2}npm test/),
  });
  const app = join(folder, "my-app");
  const tools = join(app, "src", "tools.ts");
  const tested = type("npm test", app);
  expect(tested).toMatchObject({ status: 0, output: expect.stringContaining("# pass 3") });

  // Change the tool, and what its test says about it.
  edit(tools, (text) => text.replace('"lamp"', '"desk lamp"'));
  expect(type("npm test", app)).toMatchObject({ status: 1, output: expect.stringContaining("desk lamp") });
  edit(join(app, "src", "plan.test.ts"), (text) => text.replace('product: "lamp"', 'product: "desk lamp"'));
  expect(type("npm test", app).status).toBe(0);

  const { mongodbUrl, redisUrl } = testServers();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/graphql`;
  const dev = start("npm run dev", app, {
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    PORT: String(port),
    MODEL: "offline",
  });
  await dev.printed(/Ctrl-C stops everything/);
  const order = () => type("npm run order", app, { PLANWRIGHT_URL: url });
  expect(order()).toMatchObject({
    status: 0,
    output: expect.stringMatching(/COMPLETED\n.*"orderId":"order-1"/),
  });

  // Break it: the test of the plan names the exception, and the running system what it knows.
  edit(tools, (text) => text.replace("const order: Order", `${BREAK}$&`));
  const broken = type("npm test", app);
  expect(broken.status).not.toBe(0);
  expect(broken.output).toContain(
    'placeOrder threw "out of paper"; whether it changed anything is not known',
  );
  await dev.printed(/reloaded shop/);
  const failed = order();
  expect(failed.status).toBe(1);
  expect(failed.output).toContain("it is not known whether the call of step order (placeOrder) happened");

  edit(tools, (text) => text.replace(BREAK, ""));
  expect(type("npm test", app).status).toBe(0);
  await dev.printed(/reloaded shop/, 2);
  const [requestId] = /req_\w+/.exec(failed.output) ?? [];
  const again = type(`npx planwright resolve ${requestId} order --retry --watch`, app, {
    PLANWRIGHT_URL: url,
  });
  expect(again).toMatchObject({
    status: 0,
    output: expect.stringMatching(/COMPLETED[\s\S]*"orderId":"order-2"/),
  });
  const orders = readFileSync(join(app, ".data/planwright/servers/shop/orders.jsonl"), "utf8");
  expect(orders.trim().split("\n")).toHaveLength(2);

  edit(join(app, "planwright.servers.json"), (text) => text.replace('"shop"', '"store"'));
  await dev.printed(/Ctrl-C stops everything/, 2);
  dev.press("SIGINT");
  await dev.ended;
  expect(dev.output()).toContain("Stopping ...");
});

test("a folder with files is refused by its name, and nothing is written", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "notes.txt"), "mine");
  expect(type(`${CREATE} .`, folder)).toEqual({
    status: 1,
    output: ". is not empty (notes.txt). Name another folder; nothing was written\n",
  });
  expect(existsSync(join(folder, "src"))).toBe(false);
  expect(type(`${CREATE} notes.txt`, folder)).toEqual({
    status: 1,
    output: "notes.txt is a file. Name another folder; nothing was written\n",
  });
  expect(type(`${CREATE} /proc/app`, folder)).toMatchObject({
    status: 1,
    output: expect.stringMatching(/^E\w+: .*\/proc\/app.*\n$/),
  });
  expect(type(CREATE, folder)).toEqual({
    status: 1,
    output: "Name a folder: npm create planwright my-app\n",
  });
  expect(type(`${CREATE} one two`, folder).output).toBe("One folder is enough: one, two are several\n");
  expect(type(`${CREATE} one --fast`, folder)).toMatchObject({
    status: 1,
    output: expect.stringMatching(/'--fast'[\s\S]*npm create planwright \[folder\]/),
  });
  expect(type(`${CREATE} --help`, folder)).toMatchObject({
    status: 0,
    output: expect.stringContaining("--no-install"),
  });
});

test("a failed installation is told, and the next line to type is right in a folder with spaces", () => {
  const folder = newFolder();
  mkdirSync(join(folder, "my shop", ".git"), { recursive: true });
  const { status, output } = type(`${CREATE} "my shop" --install 2>&1`, folder, {
    npm_config_registry: "http://127.0.0.1:1",
    npm_config_offline: "true",
  });
  expect({ status, output }).toMatchObject({
    status: 1,
    output: expect.stringMatching(/npm (?:error|ERR!)[\s\S]*cd "my shop"\n {2}npm install\n {2}npm test/),
  });
});

test("a new app passes its tests and those of the guide, and a wrong plan does not compile", () => {
  const folder = newFolder();
  type(`${CREATE} "My Shop!" --no-install`, folder);
  const app = join(folder, "My Shop!");
  const blocks = readmeBlocks(ROOT, "docs/guides/testing-plans.md");
  const ofLanguage = (name: string) =>
    blocks.filter(({ language }) => language === name).map(({ text }) => text);
  const code = ofLanguage("ts").join("\n");
  writeFileSync(join(app, "src", "orders.test.ts"), code);
  const tests = 3 + code.split("\ntest(").length - 1;
  const [again = "", ...more] = ofLanguage("sh");
  expect(more).toEqual([]);
  for (const line of ["npm test", again]) {
    const written = existsSync(join(app, "shop.recorded.json"));
    expect({ written, ...type(line.trim(), app) }).toMatchObject({
      status: 0,
      written: line !== "npm test",
      output: expect.stringContaining(`# pass ${tests}`),
    });
  }
  expect(existsSync(join(app, "shop.recorded.json"))).toBe(true);
  expect(JSON.parse(readFileSync(join(app, "package.json"), "utf8"))).toMatchObject({ name: "my-shop" });
  edit(join(app, "src", "plan.ts"), (text) => text.replace("find.products.0", "find.product"));
  const { status, output } = type("npm test", app);
  expect(status).not.toBe(0);
  expect(output).toMatch(/src\/plan\.ts.*error TS/);
});
