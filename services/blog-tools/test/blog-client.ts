import { type ChildProcess, spawn } from "node:child_process";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { bundledServices } from "@planwright/testing";

/** A result, reduced to the parts that tests check. */
export type Answer = { output: Record<string, unknown> } | { refusal: string };

/** Calls tools as any MCP client does. */
export interface BlogClient {
  client: Client;
  call(tool: string, args: Record<string, unknown>, key?: string): Promise<Answer>;
  /** As `call`, for calls that must succeed. */
  output(tool: string, args: Record<string, unknown>, key?: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The command that runs the service, as it was bundled when the test run began. */
export function serviceCommand(...args: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [bundledServices("blog-tools")["blog-tools"], ...args] };
}

/** The service as a separate process, over HTTP at a free port. */
export async function startService(mongodbUrl: string): Promise<{ url: string; child: ChildProcess }> {
  const { command, args } = serviceCommand();
  const env = { ...process.env, MONGODB_URL: mongodbUrl, PORT: "0", LOG_LEVEL: "info" };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise<string>((resolve, reject) => {
    let log = "";
    const read = (chunk: Buffer) => {
      log += chunk.toString();
      const found = /http:\/\/[\d.:]+\/mcp/.exec(log);
      if (found !== null) resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new TypeError(log)));
  });
  return { url, child };
}

/** A client of the newest protocol over streamable HTTP. */
export async function connectOverHttp(url: string): Promise<BlogClient> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return toBlogClient(client);
}

/** A client that starts the service as its child. */
export async function connectOverStdio(mongodbUrl: string): Promise<BlogClient> {
  const client = new Client({ name: "test", version: "1" });
  const env = { MONGODB_URL: mongodbUrl };
  await client.connect(new StdioClientTransport({ ...serviceCommand("--stdio"), env, stderr: "ignore" }));
  return toBlogClient(client);
}

function toBlogClient(client: Client): BlogClient {
  const call: BlogClient["call"] = async (name, args, key) => {
    const _meta = key === undefined ? {} : { "dev.planwright/idempotencyKey": key };
    return toAnswer(await client.callTool({ name, arguments: args, _meta }));
  };
  return {
    client,
    call,
    output: async (tool, args, key) => {
      const answer = await call(tool, args, key);
      if ("refusal" in answer) throw new TypeError(`${tool}: ${answer.refusal}`);
      return answer.output;
    },
    close: () => client.close(),
  };
}

function toAnswer({ isError, content, structuredContent }: CallToolResult): Answer {
  const texts = content.map((block) => (block.type === "text" ? block.text : ""));
  if (isError) return { refusal: texts.join("\n") };
  return { output: structuredContent as Record<string, unknown> };
}
