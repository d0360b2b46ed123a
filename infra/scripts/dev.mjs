// npm run dev: the whole system from its sources, on the data of `npm start`. A change of a source bundles and
// restarts the services that use it; a change of a stdio server's file in this checkout reloads that server.
import { watch } from "node:fs";
import { join, resolve } from "node:path";
import { createClient, graphql } from "@planwright/client";
import { apiPortOf, holdFolder, startStack, watchServerFiles } from "@planwright/local";
import { createApartBundler } from "./bundle-apart.mjs";

const SERVICES = ["api", "blog-tools", "executor", "planner"];
/** Editors write a file in several steps, and a branch changes many files at once. */
const QUIET_MS = 100;
/** Below the modules of this repository, so that bundles find the same files as the services. */
const BUNDLES = resolve("node_modules", ".cache", "planwright-dev");
const dataDir = process.env.DATA_DIR || join(".data", "planwright");
const say = (line) => console.log(line);

/** Prints what is wrong and ends. */
function fail({ message }) {
  console.error(message);
  process.exit(1);
}

let apiPort;
try {
  apiPort = apiPortOf(process.env);
} catch (error) {
  fail(error);
}
if (!(await holdFolder(dataDir).catch(fail)))
  fail({ message: `Another program uses ${dataDir}. Stop it first.` });
/** The services that have to be started again. */
const changed = new Set();
let timer;
let restarting = Promise.resolve();

const bundlers = new Map(
  SERVICES.map((name) => [
    name,
    createApartBundler({
      main: resolve("services", name, "src", "main.ts"),
      folder: join(BUNDLES, name),
    }),
  ]),
);
const bundleServices = (names) => Promise.all(names.map((name) => bundlers.get(name)()));

async function restartChanged() {
  const stack = await starting;
  const names = [...changed];
  changed.clear();
  const startedAt = performance.now();
  try {
    // A source with an error leaves the services running as they are.
    await bundleServices(names);
    await Promise.all(names.map((name) => stack.processes[name].restart()));
    say(`Restarted ${names.join(", ")} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  } catch (error) {
    say(`${error.message}\nChange a source to try again.`);
  }
}

/** Notes a changed file: a service's own file restarts that service, a package's file restarts all. */
function onChange(top, file) {
  if (!file || !/^[^/]+\/src\/.*(?<!\.test)\.(ts|graphql|json)$/.test(file)) return;
  const [name] = file.split("/");
  for (const service of top === "services" ? [name] : SERVICES) changed.add(service);
  clearTimeout(timer);
  timer = setTimeout(() => {
    restarting = restarting.then(restartChanged);
  }, QUIET_MS);
}

// Before the start, which takes seconds: a recursive watch needs a moment until it sees changes.
for (const top of ["packages", "services"])
  watch(top, { recursive: true }, (_event, file) => onChange(top, file));

const starting = bundleServices(SERVICES).then(() =>
  startStack({
    dataDir,
    apiPort,
    isSupervised: true,
    say,
    mains: Object.fromEntries(SERVICES.map((name) => [name, join(BUNDLES, name, "bundle.cjs")])),
    settings: Object.fromEntries(SERVICES.map((name) => [name, { NODE_OPTIONS: "--enable-source-maps" }])),
  }),
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, async () => {
    const stack = await starting.catch(() => undefined);
    await stack?.stop();
    process.exit(0);
  });
const { apiUrl, apiKey, logDir } = await starting.catch(fail);
const client = createClient({ url: apiUrl, token: apiKey });
const RELOAD = graphql(
  `mutation ($name: String!) { reloadToolServer(name: $name) { executors { outcome reason stderrTail } } }`,
);
watchServerFiles(join(dataDir, "mcp-servers.json"), process.cwd(), (name) => void reload(name));
async function reload(name) {
  try {
    const { reloadToolServer } = await client.execute(RELOAD, { name });
    for (const { outcome, reason, stderrTail } of reloadToolServer.executors)
      say(
        outcome === "RELOADED"
          ? `Reloaded the tool server ${name}`
          : [`The tool server ${name} stays as it was: ${reason ?? "no answer yet"}`, stderrTail ?? ""].join(
              "\n",
            ),
      );
  } catch (error) {
    say(`The tool server ${name} was not reloaded: ${error.message}`);
  }
}
say(`Planwright runs from its sources: ${apiUrl}\nLogs: ${logDir}\nCtrl-C stops it.`);
