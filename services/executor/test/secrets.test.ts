import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

const VALUE = "correct-horse-battery-staple";
const IN_PLAN = "secret://crm-key";

let bench: Workbench;
let folder: string;
let printed = "";

beforeEach(async () => {
  printed = "";
  folder = await mkdtemp(join(tmpdir(), "planwright-secrets-"));
  await writeFile(join(folder, "crm-key"), `${VALUE}\n`);
  const secrets = { "crm-key": { tenants: [TENANT] }, absent: {}, foreign: { tenants: ["t2"] } };
  bench = await openWorkbench({}, { secrets });
});
afterEach(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

const settings = () => ({ SECRETS_DIR: folder, PLANWRIGHT_SECRET_FOREIGN: VALUE, LOG_LEVEL: "trace" });

function listen(child: ChildProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
  }
}

test("a secret reaches the tool despite crashes and retries, and is stored and shown nowhere", async () => {
  const victim = bench.spawnExecutor({
    ...settings(),
    ...SOON_DEAD,
    FAILPOINT: "executor.result.before=kill",
  });
  listen(victim.child);
  const message = `refused ${VALUE}`;
  bench.tools.script({
    set_value: [{ type: "lose-answer" }],
    plain_effect: [{ type: "error-after-effect", message }],
  });
  const { _id: planId } = await bench.submit({
    steps: [
      { id: "keyed", tool: "keyed_effect", arguments: { value: { token: IN_PLAN } } },
      {
        id: "again",
        tool: "set_value",
        arguments: { value: [IN_PLAN, "<<keyed.value>>"] },
        retry: { initialMs: 0 },
      },
      { id: "refused", tool: "plain_effect", arguments: { value: IN_PLAN }, dependsOn: ["again"] },
    ],
    policy: { onStepFailure: "fail-forward" },
  });
  await victim.exited;
  listen(await bench.startProcess(settings()));
  const { steps } = await bench.end(planId);

  const ledger = await bench.tools.ledger();
  const sent = (tool: string) =>
    ledger.filter((entry) => entry.tool === tool).map((entry) => entry.arguments);
  expect(sent("keyed_effect")).toEqual([{ value: { token: VALUE } }]);
  const again = { value: [VALUE, { token: "[redacted]" }] };
  expect(sent("set_value")).toEqual([again, again]);
  expect(sent("plain_effect")).toEqual([{ value: VALUE }]);

  expect(steps.get("keyed")).toMatchObject({
    status: "COMPLETED",
    arguments: { value: { value: { token: IN_PLAN } } },
    output: { value: { token: "[redacted]" } },
  });
  for (const key of ["keyed", "again"]) {
    const { attempts, argsHash, arguments: args } = steps.get(key)!;
    expect(attempts).toHaveLength(2);
    expect(argsHash).toBe(createHash("sha256").update(JSON.stringify(args?.value)).digest("hex"));
  }
  expect(steps.get("refused")).toMatchObject({
    status: "FAILED",
    error: { message: expect.stringContaining("refused [redacted]") },
  });
  const stored = [await bench.store.getPlan(TENANT, planId), ...steps.values()];
  expect(JSON.stringify(stored)).not.toContain(VALUE);
  expect(printed).toContain("plan ended in part");
  expect(printed).not.toContain(VALUE);
});

test("a secret that does not exist, that the tenant may not send, or that an output names, is not sent", async () => {
  await bench.startProcess(settings());
  const { _id: planId } = await bench.submit({
    steps: [
      { id: "absent", tool: "set_value", arguments: { value: "secret://absent" } },
      { id: "foreign", tool: "set_value", arguments: { value: "secret://foreign" } },
      { id: "unnamed", tool: "set_value", arguments: { value: "secret://unnamed" } },
      { id: "slash", tool: "read_value", arguments: { value: "/" } },
      { id: "asking", tool: "read_value", arguments: { value: "secret:/<<slash.value>>crm-key" } },
      { id: "asked", tool: "set_value", arguments: { value: "<<asking.value>>" } },
    ],
    policy: { onStepFailure: "fail-forward" },
  });
  const { steps } = await bench.end(planId);
  const codeOf = (key: string) => `${steps.get(key)?.status} ${steps.get(key)?.error?.code}`;
  expect(codeOf("absent")).toBe("FAILED SECRET_UNKNOWN");
  expect(codeOf("foreign")).toBe("FAILED SECRET_FORBIDDEN");
  expect(codeOf("unnamed")).toBe("FAILED SECRET_FORBIDDEN");
  expect(steps.get("asking")).toMatchObject({ output: { value: IN_PLAN } });
  expect((await bench.tools.ledger()).map((entry) => entry.arguments)).toEqual([{ value: IN_PLAN }]);
});
