import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { CodedError } from "@planwright/plan";
import { z } from "zod";
import { DataFolderError } from "./errors.ts";
import { isPortFree } from "./ports.ts";
import { usableMongod } from "./start-mongo.ts";
import { apiPortOf, checksProgram, WrongSettingsError } from "./start-service.ts";
import { environmentToCheck } from "./start-stack.ts";

/** What one check found. */
export const FoundSchema = z.object({
  name: z.string(),
  state: z.enum(["ok", "warning", "problem"]),
  text: z.string(),
  remedy: z.string().optional(),
});
export type Found = z.infer<typeof FoundSchema>;

/** Options of {@link checkMachine}. */
export interface MachineOptions {
  /** The environment of a start; default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Folder of data and logs. */
  dataDir: string;
  /** True while a system answers: its port is taken by itself, and it has connected its tool servers. */
  isRunning: boolean;
}

/**
 * Checks whether the system can start and work on this machine with these settings: Node, folder, disk, port,
 * settings, database, Redis, model, tool servers. Starts nothing but the tool servers of MCP_SERVERS_FILE, and
 * changes nothing. A model gets one tiny call.
 */
export async function checkMachine(options: MachineOptions): Promise<Found[]> {
  const { env = process.env, dataDir, isRunning } = options;
  const [folder, port, mongod, inProcess] = await Promise.all([
    checkFolder(resolve(dataDir)),
    isRunning ? undefined : checkPort(env),
    env["MONGODB_URL"] || isRunning ? undefined : checkMongod(),
    checkInProcess(env, isRunning),
  ]);
  const noRedis = env["REDIS_URL"] ? undefined : checkNoRedis();
  return [checkNode(), folder, port, mongod, noRedis, inProcess].flatMap((found) => found ?? []);
}

/** The versions that the packages name in `engines`: from these minors on, and every later major. */
const NODE_MINORS: Readonly<Record<number, number>> = { 20: 19, 22: 12 };
const NODE_FROM = 24;

function checkNode(): Found[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isFit = major >= NODE_FROM || minor >= (NODE_MINORS[major] ?? Number.POSITIVE_INFINITY);
  const text = process.versions.node;
  const remedy = "install Node 20.19, 22.12 or 24 and later";
  return [isFit ? { name: "node", state: "ok", text } : { name: "node", state: "problem", text, remedy }];
}

/** MongoDB stops writing on a full disk; below this there is room for a few minutes, in bytes. */
const LEAST_FREE = 200 * 1_048_576;
/** Below this the disk fills soon, in bytes. */
const ENOUGH_FREE = 2_048 * 1_048_576;

async function checkFolder(folder: string): Promise<Found[]> {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const reason = whyNotUsable(existing);
  if (reason !== undefined) {
    const { message } = new DataFolderError(folder, reason);
    return [{ name: "data folder", state: "problem", text: message }];
  }
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const state = free < LEAST_FREE ? "problem" : free < ENOUGH_FREE ? "warning" : "ok";
  const remedy = "free some, or set DATA_DIR to a folder of another disk";
  return [
    { name: "data folder", state: "ok", text: folder },
    {
      name: "disk",
      state,
      text: `${(free / 2 ** 30).toFixed(1)} GiB free for the data folder`,
      ...(state === "ok" ? {} : { remedy }),
    },
  ];
}

/** Undefined for a folder in which this user may make others. */
function whyNotUsable(folder: string): unknown {
  if (!statSync(folder).isDirectory()) return `${folder} is a file`;
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function checkPort(env: NodeJS.ProcessEnv): Promise<Found[]> {
  const name = "port";
  try {
    const port = apiPortOf(env);
    if (await isPortFree(port)) return [{ name, state: "ok", text: `${port} is free` }];
    const remedy = "planwright up takes another one and says so; PORT names one that stays";
    return [{ name, state: "warning", text: `${port} is taken by another program`, remedy }];
  } catch (error) {
    if (error instanceof WrongSettingsError) return [{ name, state: "problem", text: error.message }];
    const reason = error instanceof Error ? error.message : String(error);
    return [
      { name, state: "problem", text: `this user may not listen (${reason})`, remedy: "set PORT above 1023" },
    ];
  }
}

async function checkMongod(): Promise<Found[]> {
  const name = "database";
  try {
    const mongod = await usableMongod();
    if (mongod) return [{ name, state: "ok", text: `planwright up starts ${mongod.command}` }];
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return [{ name, state: "problem", text: error.message }];
  }
  const text = "MongoDB is not installed: planwright up downloads it (about 100 MB)";
  return [{ name, state: "warning", text, remedy: "install MongoDB 8 or later, or set MONGODB_URL" }];
}

function checkNoRedis(): Found[] {
  return [{ name: "redis", state: "ok", text: "not used: one process needs none" }];
}

/** What needs the code of the services is checked by their program. */
async function checkInProcess(env: NodeJS.ProcessEnv, isRunning: boolean): Promise<Found[]> {
  const hasServers = Boolean(env["MCP_SERVERS_FILE"]);
  const checks = [
    "api",
    "planner",
    "model",
    ...(hasServers ? ["executor"] : []),
    ...(hasServers && !isRunning ? ["servers"] : []),
    ...(env["MONGODB_URL"] ? ["database"] : []),
    ...(env["REDIS_URL"] ? ["redis"] : []),
  ];
  let program: string;
  try {
    program = checksProgram();
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return [{ name: "settings", state: "problem", text: error.message }];
  }
  const child = spawn(process.execPath, [program, "--check", checks.join()], {
    env: environmentToCheck(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [lines, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  const found = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => FoundSchema.parse(JSON.parse(line)));
  if (code === 0) return found;
  return [...found, { name: "checks", state: "problem", text: `could not run: ${errors.trim()}` }];
}
