import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { isJsonObject } from "@planwright/plan";
import { expect, onTestFinished, test } from "vitest";
import { REVIEWED_CONTRACTS } from "../../../tools/src/config/reviewed-contracts.ts";
import { REAL_SERVERS } from "./servers.ts";

const GUARD = new URL("../../../../infra/scripts/local-network-only.mjs", import.meta.url);
const place = { folder: "/f", pageUrl: "http://p/", mongodbUrl: "m", redisUrl: "r", chromium: "c" };

test("at least 20 servers with exact versions have a plan of their own tools", () => {
  const servers = Object.entries(REAL_SERVERS);
  expect(servers.length).toBeGreaterThanOrEqual(20);
  for (const [name, server] of servers) {
    expect(server.version).toMatch(/^\d+\.\d+\.\d+$/);
    const [first] = server.steps(place);
    expect(isJsonObject(first) && String(first["tool"]).startsWith(`${name}/`)).toBe(true);
  }
});

test("every package with reviewed contracts is tried, in the version that was reviewed", () => {
  const pinned = new Map(Object.values(REAL_SERVERS).map((server) => [server.package, server.version]));
  for (const [name, { version }] of Object.entries(REVIEWED_CONTRACTS)) {
    expect({ name, version: pinned.get(name) }).toEqual({ name, version });
  }
});

test("a server of the proof reaches this machine and no other, by any kind of connection", async () => {
  const local = createServer((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n")).listen(
    0,
    "127.0.0.1",
  );
  await once(local, "listening");
  onTestFinished(() => void local.close());
  const address = local.address();
  const port = typeof address === "object" ? address?.port : 0;
  const program = `
    const net = require("node:net");
    const told = (name) => (error) => console.log(name, error.cause?.code ?? error.code);
    net.connect(9, "192.0.2.1").on("error", told("net"));
    require("node:tls").connect({ host: "example.com", port: 443 }).on("error", told("tls"));
    require("node:https").get("https://example.com/").on("error", told("https"));
    fetch("https://example.com/").catch(told("fetch"));
    net.connect("/not/there.sock").on("error", told("file"));
  `;
  const ran = spawnSync(process.execPath, ["--import", GUARD.href, "-e", program], { encoding: "utf8" });
  expect(ran.stdout.trim().split("\n").toSorted()).toEqual([
    "fetch ENOTFOUND",
    "file ENOENT",
    "https ENOTFOUND",
    "net ENOTFOUND",
    "tls ENOTFOUND",
  ]);
  const other = `fetch("http://127.0.0.1:${port}/").then(({ status }) => console.log(status))`;
  const child = spawn(process.execPath, ["--import", GUARD.href, "-e", other]);
  const [said] = await once(child.stdout, "data");
  expect(String(said).trim()).toBe("204");
});
