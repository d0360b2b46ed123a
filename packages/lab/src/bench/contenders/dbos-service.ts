/** The diamond as a DBOS workflow behind a small HTTP server, as a separate process. */
import { createServer } from "node:http";
import { requirePeer } from "./peer-packages.ts";

/** The part of the SDK's API that is used here. */
interface DbosSdk {
  DBOS: {
    setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string }): void;
    registerWorkflow(workflow: Workflow, options: { name: string }): Workflow;
    launch(): Promise<void>;
    startWorkflow(workflow: Workflow): () => Promise<{ getResult(): Promise<object> }>;
    runStep<T>(action: () => Promise<T>, options: { name: string }): Promise<T>;
  };
}
type Workflow = () => Promise<object>;

const { DBOS } = requirePeer("@dbos-inc/dbos-sdk") as DbosSdk;

const step = (name: string) => DBOS.runStep(() => Promise.resolve({ tool: name, value: 1 }), { name });
const diamond = DBOS.registerWorkflow(
  async () => {
    const a = await step("a");
    const [b, c, d] = await Promise.all([step("b"), step("c"), step("d")]);
    const e = await step("e");
    return { a, b, c, d, e };
  },
  { name: "diamond" },
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

/** GET is the health check. */
createServer((request, response) => {
  if (request.method === "GET") {
    response.end();
    return;
  }
  request.resume();
  run().then(
    (result) => response.end(JSON.stringify(result)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(process.env["PORT"]), "127.0.0.1");
