import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, type Workbench } from "./executor-process.ts";

let bench: Workbench;
let folder: string;

/** The program of an installed MCP server. */
function programOf(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return join(dirname(manifest), "dist", "index.js");
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "planwright-files-"));
  bench = await openWorkbench({
    everything: { command: process.execPath, args: [programOf("@modelcontextprotocol/server-everything")] },
    files: {
      command: process.execPath,
      args: [programOf("@modelcontextprotocol/server-filesystem"), folder],
    },
  });
});
afterEach(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

test("the tools of third-party servers are listed, and one step uses the output of another", async () => {
  await bench.startExecutor();
  // An executor is ready before slow servers have started.
  const listed = async () => (await bench.store.listTools()).map((tool) => tool._id);
  await expect
    .poll(listed)
    .toEqual(expect.arrayContaining(["everything/echo", "files/write_file", "files/read_text_file"]));

  const file = join(folder, "echo.txt");
  const { _id: planId } = await bench.submit([
    { id: "echo", tool: "echo", arguments: { message: "planned elsewhere" } },
    { id: "write", tool: "write_file", arguments: { path: file, content: "It says: <<echo>>" } },
    { id: "read", tool: "read_text_file", arguments: { path: file }, dependsOn: ["write"] },
  ]);
  const { plan, steps } = await bench.end(planId);
  expect([...steps.values()].map(({ status, error }) => ({ status, error }))).toEqual(
    Array.from({ length: 3 }, () => ({ status: "COMPLETED", error: null })),
  );
  expect(plan.status).toBe("COMPLETED");
  expect(await readFile(file, "utf8")).toBe("It says: Echo: planned elsewhere");
  expect(JSON.stringify(steps.get("read")?.output)).toContain("planned elsewhere");
});
