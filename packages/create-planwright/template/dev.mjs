// npm run dev: the system, and what to do when a file changes. A change of a source compiles it and reloads the
// tool server; a change of planwright.servers.json starts the system again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, watch } from "node:fs";

const SERVERS = "planwright.servers.json";
const env = { ...process.env, MCP_SERVERS_FILE: SERVERS };
const inherited = { env, stdio: ["ignore", "inherit", "inherit"] };
const start = (command, ...words) => spawn(command, words, inherited);
/** Of the running system, from what it prints. */
let url;

function startUp() {
  url = undefined;
  const child = spawn("planwright", ["up"], { ...inherited, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.setEncoding("utf8").on("data", (text) => {
    process.stdout.write(text);
    url ??= /GraphQL +(http\S+)/.exec(text)?.[1];
  });
  child.on("exit", (code) => {
    if (child === up && !isRestarting) void stop(code ?? 1);
  });
  return child;
}

let isRestarting = false;
let isStopping = false;
let up = startUp();
const compiler = start("tsc", "--watch", "--preserveWatchOutput");

async function restart() {
  if (isRestarting) return;
  isRestarting = true;
  console.log(`${SERVERS} has changed: the system is started again.`);
  const ended = once(up, "exit");
  up.kill("SIGTERM");
  await ended;
  if (!isStopping) up = startUp();
  isRestarting = false;
}

/** Calls it once for changes that come together. */
function soon(callback) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(callback, 300);
  };
}

const programs = () =>
  readdirSync("dist")
    .filter((file) => file.endsWith(".js") && !file.endsWith(".test.js"))
    .map((file) => readFileSync(`dist/${file}`, "utf8"))
    .join();
let loaded = programs();
const reload = soon(() => {
  // npm test and npm run order compile too, without any change.
  if (url === undefined || programs() === loaded) return;
  loaded = programs();
  start("planwright", "tools", "--reload", "shop", "--url", url);
});
const restartSoon = soon(restart);
watch("dist", reload);
watch(".", (_event, file) => {
  if (file === SERVERS) restartSoon();
});

async function stop(code) {
  if (isStopping) return;
  isStopping = true;
  compiler.kill();
  if (up.exitCode === null && up.signalCode === null) {
    up.kill("SIGTERM");
    await once(up, "exit");
  }
  process.exit(code);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void stop(0));
