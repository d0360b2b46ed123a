/** Three parallel reads of a configured server that declares only readOnlyHint. */
import { parsePlan } from "@planwright/plan";
import { afterEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

let server: ChangingServer;
let bench: Workbench;
afterEach(async () => {
  await bench.close();
  await server.close();
});

const CITIES = ["Tokyo", "London", "Paris"];

async function run(name: string) {
  const tools = await bench.store.toolCatalogue(TENANT);
  const parsed = parsePlan(
    CITIES.map((city) => ({ id: city, tool: name })),
    { tools },
  );
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: parsed.plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  return (await bench.end(plan._id)).plan.status;
}

test("reads of a configured server that declares only readOnlyHint run in parallel", async () => {
  server = await startChangingServer([plainTool("get_weather", { annotations: { readOnlyHint: true } })]);
  bench = await openWorkbench({ weather: { url: server.url } });
  await bench.startExecutor();
  // No call is answered before all three have arrived.
  let waiting: (() => void)[] = [];
  server.answer = async (name) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length < CITIES.length) return;
      for (const answer of waiting) answer();
      waiting = [];
    });
    return { content: [{ type: "text", text: name }] };
  };
  expect(await run("get_weather")).toBe("COMPLETED");
});
