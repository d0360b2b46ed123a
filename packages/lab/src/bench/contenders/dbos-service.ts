/**
 * The diamond as a DBOS workflow behind a small HTTP server, as a separate process: once for `bench -- system`, and
 * once with steps that call a tool of the server at TOOLS_URL, for `bench -- kills`.
 */
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { openStep, requirePeer } from "./peer-packages.ts";

/** The part of the SDK's API that is used here. */
interface DbosSdk {
  DBOS: {
    setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string }): void;
    registerWorkflow<Args extends unknown[]>(
      workflow: Workflow<Args>,
      options: { name: string },
    ): Workflow<Args>;
    launch(): Promise<void>;
    startWorkflow<Args extends unknown[]>(
      workflow: Workflow<Args>,
      options?: { workflowID: string },
    ): (...args: Args) => Promise<{ getResult(): Promise<object> }>;
    runStep<T>(action: () => Promise<T>, options: { name: string; retriesAllowed?: boolean }): Promise<T>;
    getWorkflowStatus(workflowID: string): Promise<{ status: string } | null>;
  };
}
type Workflow<Args extends unknown[]> = (...args: Args) => Promise<object>;

const { DBOS } = requirePeer("@dbos-inc/dbos-sdk") as DbosSdk;

const act = await openStep();
const step = (name: string) => DBOS.runStep(() => act(name), { name });
const diamond = DBOS.registerWorkflow(
  async () => {
    const a = await step("a");
    const [b, c, d] = await Promise.all([step("b"), step("c"), step("d")]);
    const e = await step("e");
    return { a, b, c, d, e };
  },
  { name: "diamond" },
);

/** One call of a tool. */
interface ToolStep {
  id: string;
  tool: string;
  arguments: object;
}

/**
 * Calls a tool over streamable HTTP, without a key.
 * @throws {TypeError} when it fails or gives no answer
 */
async function callTool({ tool, arguments: args }: ToolStep): Promise<string> {
  const answer = await fetch(process.env["TOOLS_URL"] ?? "", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: args },
    }),
  });
  const body = await answer.text();
  if (answer.ok && body.includes('"result"') && !body.includes('"isError":true')) return body;
  throw new TypeError(`${tool} answered ${answer.status}: ${body}`);
}

/** A diamond of calls. Retries are those that DBOS documents for calls of unreliable services, by its defaults. */
const effects = DBOS.registerWorkflow(
  async (steps: readonly ToolStep[]) => {
    const [a, b, c, d, e] = steps.map(
      (step) => () => DBOS.runStep(() => callTool(step), { name: step.id, retriesAllowed: true }),
    );
    const first = await a?.();
    const middle = await Promise.all([b?.(), c?.(), d?.()]);
    return { first, middle, last: await e?.() };
  },
  { name: "effects" },
);

DBOS.setConfig({
  name: "bench",
  systemDatabaseUrl: process.env["DATABASE_URL"] ?? "",
  logLevel: "warn",
});
await DBOS.launch();

async function run(): Promise<object> {
  const handle = await DBOS.startWorkflow(diamond)();
  return handle.getResult();
}

/** `POST /effects/ID` starts a workflow under this id, unless it was started before; `GET` reads its status. */
async function serveEffects(id: string, request: IncomingMessage): Promise<object | null> {
  if (request.method === "GET") return DBOS.getWorkflowStatus(id);
  const steps = JSON.parse(await text(request)) as ToolStep[];
  await DBOS.startWorkflow(effects, { workflowID: id })(steps);
  return { id };
}

/** `GET /` is the health check; `POST /` runs the diamond and answers at its end. */
async function serve(request: IncomingMessage): Promise<object | null> {
  const [, id] = /^\/effects\/(.+)$/.exec(request.url ?? "") ?? [];
  if (id !== undefined) return serveEffects(id, request);
  if (request.method === "GET") return {};
  request.resume();
  return run();
}

createServer((request, response) => {
  serve(request).then(
    (result) => response.end(JSON.stringify(result)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(process.env["PORT"]), "127.0.0.1");
