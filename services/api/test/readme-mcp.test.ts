/** Makes every call of the MCP tools in the README unchanged. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { mcpExamples as examples } from "./readme-examples.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { executeAs, playWorkers } from "./workers.ts";

let running: RunningApi;
let workers: ReturnType<typeof playWorkers>;
beforeAll(async () => {
  running = await startTestApi({ mcp: { hosts: [] } });
  workers = playWorkers(running, (planId) => executeAs(running.store, planId));
});
afterAll(async () => {
  await workers.stop();
  await running.close();
});

/** The server's answer, as a single document or as the last event of a stream. */
async function call({ path, headers, body }: (typeof examples)[number]) {
  const answer = await running.send(path, { method: "POST", headers, body });
  const events = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
  expect({ body, status: answer.status }).toEqual({ body, status: 200 });
  return answer.body ?? events.at(-1);
}

test("every tool has an example, and every example works with the id from the one before", async () => {
  const [first] = examples;
  const listed = await call({ ...first!, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
  const names: string[] = listed.result.tools.map(({ name }: { name: string }) => name);
  expect(examples.map(({ body }) => JSON.parse(body).params.name)).toEqual(names);

  const expected: Record<string, object> = {
    create_plan: { status: "READY", outputs: {} },
    execute_tool_plan: { status: "COMPLETED", outputs: { createBlog: {} } },
    get_request: { status: "COMPLETED" },
    cancel_request: { status: "CANCELLED" },
  };
  let requestId = "";
  let plannedId = "";
  for (const example of examples) {
    const { name } = JSON.parse(example.body).params;
    const id = name === "cancel_request" ? plannedId : requestId;
    const body = example.body.replace("req_1700000000_abcdefghijklmnopqrst", id);
    const { result } = await call({ ...example, body });
    expect({ name, isError: result.isError ?? false }).toEqual({ name, isError: false });
    expect(result.structuredContent).toMatchObject(expected[name] ?? {});
    requestId = result.structuredContent.requestId;
    if (name === "create_plan") plannedId = requestId;
  }
});
