// npm run conformance: the server scenarios of MCP's own conformance suite that apply to /mcp, against a
// running system. Needs the network: the suite wants Node 22 or later, and this project runs on Node 20 too,
// so that suite and Node are fetched by npx, and stay outside npm ci.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startStack } from "@planwright/local";

const SUITE = "@modelcontextprotocol/conformance@0.1.16";
/**
 * The others are about prompts, resources, logging, completion, sampling and elicitation, or call tools that
 * the suite's own server has.
 */
const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "server-sse-polling",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

const dataDir = mkdtempSync(join(tmpdir(), "planwright-conformance-"));
const stack = await startStack({ dataDir, env: { ...process.env, MCP: "on" } });
const failed = [];
try {
  const { href } = new URL("/mcp", stack.apiUrl);
  for (const scenario of SCENARIOS) {
    const suite = ["-y", "-p", "node@24", "-p", SUITE, "conformance", "server"];
    const { status } = spawnSync("npx", [...suite, "--url", href, "--scenario", scenario], {
      cwd: dataDir,
      stdio: "inherit",
      env: { ...process.env, npm_config_engine_strict: "false" },
    });
    if (status !== 0) failed.push(scenario);
  }
} finally {
  await stack.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
console.log(
  `${SCENARIOS.length - failed.length} of ${SCENARIOS.length} scenarios have no failed check${failed.length > 0 ? `; failed: ${failed.join(", ")}` : ""}`,
);
process.exit(failed.length > 0 ? 1 : 0);
