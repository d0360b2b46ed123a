/**
 * What an executor logs of servers that repeat what they were given: failures, what they print, what they
 * list, what their tools answer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isTerminalPlanStatus } from "@planwright/plan";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { plainTool, startChangingServer } from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench } from "./executor-process.ts";

const LineSchema = z.looseObject({ msg: z.string(), server: z.string().optional() });

/** Of no form by which the redactor of logs knows a credential: what takes them out must know them. */
const HEADER = "correct-horse/battery staple";
const VARIABLE = "wrong-donkey/socket clip";

/** How servers repeat a value, by the name of the form. */
function formsOf(value: string): Record<string, string> {
  const bytes = Buffer.from(value);
  return {
    plain: value,
    base64: bytes.toString("base64"),
    base64url: Buffer.from(`?>${value}`).toString("base64url"),
    hex: bytes.toString("hex"),
    address: encodeURIComponent(value),
    escaped: value.replace(/[^]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`),
  };
}

/** All forms in one text, each behind its name. */
const repeated = (value: string): string =>
  Object.entries(formsOf(value))
    .map(([name, form]) => `${name} ${form}`)
    .join(" ; ");

/** The forms of which a text shows half or more, however often it was written as JSON. */
function shownForms(texts: string, value: string): string[] {
  const bare = texts.replace(/\\+/g, "\\");
  const isShown = (form: string): boolean => {
    const half = form.length / 2;
    return [0, half / 2, half].some((from) => bare.includes(form.slice(from, from + half)));
  };
  return Object.entries(formsOf(value)).flatMap(([name, form]) => (isShown(form) ? [name] : []));
}

async function refuse(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id } = JSON.parse((await text(request)) || "{}");
  const message = repeated(String(request.headers["x-shop"]));
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_000, message } }));
}

/** An HTTP server that refuses everything, and says what it was sent. @returns its address */
async function startRefusing(): Promise<string> {
  const server = createServer((request, response) => void refuse(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}

/** All texts in a value, as they were before they were written as JSON. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

test("no line of the log shows what a server was given: not of its failures, its words, its tools or its answers", async () => {
  const listing = await startChangingServer([
    plainTool("fail", { annotations: { readOnlyHint: true } }),
    // Not to be used, so it is dropped, and the log names it.
    plainTool(`\n${HEADER}`),
  ]);
  onTestFinished(() => listing.close());
  listing.answer = () => ({
    content: [{ type: "text", text: repeated(HEADER) }],
    isError: true,
  });
  // An answer to nothing: the error about it shows all of it.
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 99, result: { said: repeated(VARIABLE) } });
  const print = `console.log(${JSON.stringify(answer)}); console.error(${JSON.stringify(repeated(VARIABLE))});`;
  const bench = await openWorkbench({
    refusing: { url: await startRefusing(), headers: { "X-Shop": HEADER } },
    printing: { command: process.execPath, args: ["-e", print], env: { SHOP_PASSWORD: VARIABLE } },
    listing: { url: listing.url, headers: { "X-Shop": HEADER } },
  });
  onTestFinished(() => bench.close());
  const { child, said } = bench.spawnExecutor({ LOG_LEVEL: "trace" });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
  }
  await said("executor ready");
  const plan = await bench.submit([
    { id: "fail", tool: "fail", arguments: {}, retry: { maxAttempts: 2, initialMs: 0 } },
  ]);
  await bench.until(plan._id, ({ status }) => isTerminalPlanStatus(status));
  await said("plan failed");
  await bench.stopExecutor(child, "SIGTERM");

  const lines = printed
    .trim()
    .split("\n")
    .map((line) => LineSchema.parse(JSON.parse(line)));
  const isMasked = (line: object): boolean => JSON.stringify(line).includes("[redacted]");
  const masked = lines.filter(isMasked).map(({ server, msg }) => `${server ?? "all"}: ${msg}`);
  expect(masked).toEqual(
    expect.arrayContaining([
      "printing: server wrote to stderr",
      "printing: trouble with the connection",
      "printing: not connected",
      "refusing: not connected",
      expect.stringMatching(/^listing: Tool \s*\[redacted\] dropped/),
      "all: step failed",
      "all: plan failed",
    ]),
  );
  const texts = lines.flatMap(textsIn).join("\n");
  expect(shownForms(texts, HEADER)).toEqual([]);
  expect(shownForms(texts, VARIABLE)).toEqual([]);
});
