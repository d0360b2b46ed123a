/**
 * Follows the READMEs as a new user: runs the session of the main README unchanged, twice, and starts the
 * services one by one.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, graphql } from "@planwright/client";
import { linesNotPrinted, type ReadmeBlock, readmeBlocks, testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { freePort, startStack } from "../src/index.ts";
import { env, folder, npm, ROOT, run } from "./typed-command.ts";

const BLOCKS = readmeBlocks(ROOT, "README.md");
/** Commands that the test of all READMEs does not run either. */
const NOT_TYPED = /^(MODEL=|npm run chaos)/;
const SESSION = BLOCKS.filter(({ language, text }) => language === "sh" && !NOT_TYPED.test(text));
const ID = /req_\d{10}_[a-z0-9]{20}/;

/** The commands of a block; a quoted text or a backslash at the end continues in the next line. */
function commandsOf({ text }: ReadmeBlock): string[] {
  const commands: string[] = [];
  let open = "";
  for (const line of text.split("\n")) {
    open += open === "" ? line : `\n${line}`;
    const isComplete = (open.match(/'/g)?.length ?? 0) % 2 === 0 && !open.endsWith("\\");
    if (!isComplete) continue;
    if (open.trim() !== "") commands.push(open);
    open = "";
  }
  return commands;
}

/** A `curl` with only the options of the README: not every machine has the real one. */
const CURL = `#!/usr/bin/env node
const [, , , url, , header, , body] = process.argv;
const [name, value] = header.split(": ");
fetch(url, { method: "POST", headers: { [name]: value }, body })
  .then((answer) => answer.text())
  .then((text) => process.stdout.write(text));
`;

function folderWithCurl(): string {
  const path = folder();
  writeFileSync(join(path, "curl"), CURL);
  chmodSync(join(path, "curl"), 0o755);
  return path;
}

/** Expects that the output contains the text that the README shows. */
function expectShown(shown: string | undefined, printed: string): void {
  expect({ missing: linesNotPrinted(shown ?? "", printed), printed }).toEqual({
    missing: shown ? [] : [""],
    printed,
  });
}

/** Runs the session once; returns the exit code of each command, and the output of the last one. */
async function typeSession(
  settings: NodeJS.ProcessEnv,
): Promise<{ exitCodes: (number | null)[]; end: string }> {
  const port = settings["PORT"] ?? "";
  const exitCodes: (number | null)[] = [];
  let stop: (() => Promise<unknown>) | undefined;
  let requestId = "";
  let end = "";
  const type = async (command: string) => {
    const typed = command.replaceAll("127.0.0.1:4000", `127.0.0.1:${port}`).replaceAll("req_…", requestId);
    const ran = run("sh", ["-c", typed], settings);
    exitCodes.push(await ran.ended);
    requestId = ID.exec(ran.output())?.[0] ?? requestId;
    // Printed commands name the address when it is not the default.
    return ran.output().replaceAll(` --url http://127.0.0.1:${port}/graphql`, "");
  };
  for (const block of SESSION) {
    if (block.text === "npm start\n") {
      const start = npm(["start"], settings);
      await start.printed("Ctrl-C stops everything");
      stop = async () => {
        process.kill(-(start.child.pid ?? 0), "SIGINT");
        await start.ended;
      };
      continue;
    }
    for (const command of commandsOf(block)) {
      if (command.startsWith("# ")) {
        expectShown(command.slice(2), end);
        continue;
      }
      end = await type(command);
      // The README says to poll here.
      while (command.includes("query($id") && /"status":"(READY|EXECUTING)"/.test(end))
        end = await type(command);
      const shown = BLOCKS[BLOCKS.indexOf(block) + 1];
      if (shown?.language === "") expectShown(shown.text.trimEnd(), end);
    }
  }
  await stop?.();
  return { exitCodes, end };
}

/** How often the session is typed on the same data. */
for (const { rounds, options } of [
  { rounds: ["once"], options: {} },
  { rounds: ["once", "again on the same data"], options: { tags: ["proof"] } },
])
  test(`the session of the README works unchanged: ${rounds.join(", ")}`, options, async () => {
    const settings = {
      DATA_DIR: folder(),
      PORT: String(await freePort()),
      PATH: `${folderWithCurl()}:${env["PATH"]}`,
    };
    const url = { PLANWRIGHT_URL: `http://127.0.0.1:${settings.PORT}/graphql` };
    for (const round of rounds) {
      const { exitCodes, end } = await typeSession({ ...settings, ...url });
      expect({ round, failed: exitCodes.filter((code) => code !== 0) }).toEqual({ round, failed: [] });
      expect(end).toMatch(
        /^\{"data":\{"request":\{"status":"COMPLETED","plan":\{"steps":\[\{"id":"createAuthor","status":"COMPLETED"/,
      );
    }
  });

test("the servers file of the README starts when it is copied", async () => {
  const [servers] = BLOCKS.filter(({ language, text }) => language === "json" && text.includes("mcpServers"));
  const { mongodbUrl, redisUrl } = testServers();
  const serversFile = join(folder(), "mcp-servers.json");
  writeFileSync(serversFile, servers?.text ?? "");
  const stack = await startStack({
    dataDir: folder(),
    // Without the network npx fails at once: the server is named as missing, and the system starts.
    env: {
      ...env,
      MONGODB_URL: mongodbUrl,
      REDIS_URL: redisUrl,
      MCP_SERVERS_FILE: serversFile,
      npm_config_offline: "true",
    },
  });
  onTestFinished(() => stack.kill());
  const query = graphql("{ toolServers { name } }");
  const { toolServers } = await createClient({ url: stack.apiUrl }).execute(query, {});
  expect(toolServers.map(({ name }) => name)).toEqual(["blog", "files"]);
});

/** The command of the README that starts this service. */
function startOf(service: string): string {
  const block = readmeBlocks(ROOT, `services/${service}/README.md`).find(({ text }) =>
    text.includes(`node services/${service}/dist/main.js`),
  );
  return block?.text.trim() ?? "";
}

test("each service starts by the command of its README, next to the others, and ends with 0 on SIGTERM", async () => {
  const { mongodbUrl, redisUrl } = testServers();
  const [servers] = readmeBlocks(ROOT, "services/blog-tools/README.md").filter(
    ({ language }) => language === "json",
  );
  const serversFile = join(folder(), "mcp-servers.json");
  writeFileSync(serversFile, servers?.text ?? "");
  const started = [];
  let apiPort = "";
  for (const service of ["blog-tools", "executor", "planner", "planwright", "api"]) {
    const port = String(await freePort());
    apiPort = port;
    const command = startOf(service)
      .replace(/'mongodb:[^']*'/, `'${mongodbUrl}'`)
      .replace(/redis:\S+/, redisUrl)
      .replace("./mcp-servers.json", serversFile)
      // The service replaces the shell, so that the test gets the exit code of the service.
      .replace(/^(?=MONGODB_URL=)/m, "exec env ");
    expect(command).toContain("exec env MONGODB_URL=");
    const apiOfAll = service === "planwright" ? "0" : port;
    const running = run("sh", ["-c", command], { PORT: apiOfAll, HEALTH_PORT: port });
    started.push(running);
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      .toBe(true);
  }
  const answer = await fetch(`http://127.0.0.1:${apiPort}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "{ getAvailableTools { name server } }" }),
  });
  expect(await answer.text()).toContain('{"name":"createAuthor","server":"blog"}');
  for (const { child, ended } of started.toReversed()) {
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  }
});
