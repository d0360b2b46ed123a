/** Runs every command of the README in a shell, one after another, against the running system. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { linesNotPrinted, readmeBlocks } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProgram } from "../src/program.ts";
import { type CliSystem, readText, startCliSystem, statusOf } from "./cli-stack.ts";
import { startProcess } from "./planwright.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BLOCKS = readmeBlocks(ROOT, "packages/cli/README.md");
const COMMANDS = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text }) =>
  text.trim().split("\n"),
);
const SOME_ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";
const SOME_PLAN_ID = "plan_1795253322_b8dzgomm7f8z2yi7kyqz";
const SOME_HASH = "3f2a9c1b77aa";
const SOME_PLAN_HASH = "8c41d05e92bb";

/** They start the system, which the tests of packages/local do. */
const LOCAL_COMMANDS = ["up", "demo", "keys", "upgrade", "storage", "backup", "restore"];
const README = readText("../README.md");

let system: CliSystem;
beforeAll(async () => {
  system = await startCliSystem();
  const [plan, patch] = BLOCKS.filter(({ language }) => language === "json");
  writeFileSync(join(system.folder, "plan.json"), plan?.text ?? "");
  writeFileSync(join(system.folder, "patch.json"), patch?.text ?? "");
});
afterAll(() => system?.close());

const isWaiting = ({ plan }: { plan: { status: string } | null }) => plan?.status === "WAITING";

async function failed(): Promise<string> {
  system.tools().script({ keyed_effect: [{ type: "tool-error" }] });
  const requestId = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
  await system.until(requestId, ({ status }) => status === "FAILED");
  return requestId;
}

/** Makes a request in the state that a command needs. */
const SITUATIONS: [command: string, prepare: () => Promise<string>][] = [
  [
    "planwright answer",
    async () => {
      const { stdout } = await system.cli("run", "--detach", "Create author Zoe");
      await system.until(stdout.trim(), ({ status }) => status === "NEEDS_INPUT");
      return stdout.trim();
    },
  ],
  [
    "planwright approve",
    async () => {
      const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 1 } }]);
      await system.until(requestId, isWaiting);
      return requestId;
    },
  ],
  [
    "planwright resolve",
    async () => {
      system.tools().script({ plain_effect: [{ type: "lose-answer" }] });
      const requestId = await system.submit([{ id: "pay", tool: "plain_effect", arguments: { value: 1 } }]);
      await system.until(requestId, isWaiting);
      return requestId;
    },
  ],
  [
    `planwright retry ${SOME_ID} --from`,
    async () => {
      const sentence =
        "Create author Fay with email fay@test.com, then create blog by Fay titled Hi about code";
      const { stdout } = await system.cli("run", sentence);
      return /req_\d{10}_[a-z0-9]+/.exec(stdout)?.[0] ?? "";
    },
  ],
  [`planwright retry ${SOME_ID} --set`, failed],
  ["planwright retry", failed],
  ["planwright amend", failed],
  ["planwright replan", failed],
  [
    "planwright pause",
    async () => {
      system.tools().script({ read_value: [{ type: "latency", ms: 2_000 }] });
      const requestId = await system.submit([
        { id: "slow", tool: "read_value", arguments: { value: 1 } },
        { id: "ask", tool: "set_value", arguments: { value: "<<slow.value>>" } },
      ]);
      await system.until(requestId, (read) => statusOf(read, "slow") === "RUNNING");
      return requestId;
    },
  ],
];

/** Commands whose exit code is not 0. */
const EXIT_CODES: [command: string, exitCode: number][] = [
  [`planwright cancel ${SOME_ID} --watch`, 1],
  // It needs a model, and the system of this test has none.
  ["planwright replan", 4],
];

test("the README shows every command", () => {
  const program = createProgram({
    version: "",
    perform: async () => undefined,
    performLocally: async () => undefined,
    print: () => undefined,
  });
  const names = program.commands.map((command) => command.name()).filter((name) => name !== "complete");
  expect(names.filter((name) => !COMMANDS.some((command) => command.includes(`planwright ${name}`)))).toEqual(
    LOCAL_COMMANDS,
  );
  for (const name of LOCAL_COMMANDS) expect(README).toContain(`| \`npx planwright ${name}\` |`);
});

test("every command of the README ends with its exit code", async () => {
  let requestId = "";
  for (const command of COMMANDS) {
    const [, prepare] = SITUATIONS.find(([beginning]) => command.startsWith(beginning)) ?? [];
    if (prepare) requestId = await prepare();
    const hash = (await hashOf(requestId)) ?? SOME_HASH;
    const { planId, plan } = requestId === "" ? { planId: null, plan: null } : await system.read(requestId);
    const typed = command
      .replace(SOME_ID, requestId)
      .replace(SOME_PLAN_ID, planId ?? SOME_PLAN_ID)
      .replace(SOME_HASH, hash)
      .replace(SOME_PLAN_HASH, plan?.planHash?.slice(0, 12) ?? SOME_PLAN_HASH);
    const ran = await system.shell(typed);
    const [, expected = 0] = EXIT_CODES.find(([beginning]) => command.startsWith(beginning)) ?? [];
    expect({ command, ...ran }).toMatchObject({ command, exitCode: expected });
    requestId = /req_\d{10}_[a-z0-9]+/.exec(ran.stdout)?.[0] ?? requestId;
  }
});

test("run and debug print what the README shows", async () => {
  const [ofRun, ofDebug] = BLOCKS.filter(({ language }) => language === "");
  const sentence = (email: string) =>
    `Create author Alice with email ${email}, then create blog by Alice titled Hello about world`;
  const running = startProcess(["run", sentence("alice-1795253322@test.com")], {
    env: system.env,
    isTerminal: true,
  });
  expect(linesNotPrinted(ofRun?.text.trimEnd() ?? "", (await running.ended).stdout)).toEqual([]);
  for (const _ of [1, 2]) await system.cli("run", sentence("alice@test.com"));
  const [, requestId = ""] =
    /(req_\S+)/.exec((await system.cli("list", "--failed", "--first", "1")).stdout) ?? [];
  const { stdout } = await system.cli("debug", requestId);
  expect(linesNotPrinted(ofDebug?.text.trimEnd() ?? "", stdout)).toEqual([]);
});

test("completion in bash offers commands, options, values, and the newest requests", async () => {
  const { stdout: requestId } = await system.cli("run", "--detach", "Create author Zed");
  const completed = async (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(" ");
    const script = `source <(planwright completion bash); COMP_WORDS=(planwright ${line}); COMP_CWORD=${words.length}; _planwright; echo "\${COMPREPLY[@]}"`;
    return (await system.shell(script)).stdout.trim().split(" ");
  };
  expect(await completed("exe")).toEqual(["execute"]);
  expect(await completed("run", "--pro")).toEqual(["--profile"]);
  expect(await completed("list", "--status", "FAI")).toEqual(["FAILED"]);
  expect(await completed("debug", "")).toContain(requestId.trim());
  expect(await completed("debug", requestId.trim().slice(0, -4))).toEqual([requestId.trim()]);
});

async function hashOf(requestId: string): Promise<string | undefined> {
  if (requestId === "") return undefined;
  const { plan } = await system.read(requestId);
  return plan?.steps.find(({ approvalHash }) => approvalHash !== null)?.approvalHash?.slice(0, 12);
}
