/**
 * The log lines of an executor about servers that repeat their secrets: in failures, in printed text, in
 * listed tools and in answers of tools.
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

/** Values that the redactor of logs does not recognise by their form: only the masker knows them. */
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

/** All forms in one text, each after its name. */
const repeated = (value: string): string =>
  Object.entries(formsOf(value))
    .map(([name, form]) => `${name} ${form}`)
    .join(" ; ");

/** The forms of which a text contains half or more, however often the text was encoded as JSON. */
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

/** An HTTP server that refuses everything and repeats what it received. @returns its address */
async function startRefusing(): Promise<string> {
  const server = createServer((request, response) => void refuse(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}

/** All texts in a value, with texts that contain JSON decoded. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

test("no log line contains the secrets of a server: not its failures, its printed text, its tools or its answers", async () => {
  const listing = await startChangingServer([
    plainTool("fail", { annotations: { readOnlyHint: true } }),
    // An unusable tool: it is left out, and the log line contains its name.
    plainTool(`\n${HEADER}`),
  ]);
  onTestFinished(() => listing.close());
  listing.answer = () => ({
    content: [{ type: "text", text: repeated(HEADER) }],
    isError: true,
  });
  // An answer to no request: the error about it contains the complete answer.
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
      "printing: connection error",
      "printing: not connected",
      "refusing: not connected",
      "listing: listed tools are left out",
      "all: step failed",
      "all: plan failed",
    ]),
  );
  const texts = lines.flatMap(textsIn).join("\n");
  expect(shownForms(texts, HEADER)).toEqual([]);
  expect(shownForms(texts, VARIABLE)).toEqual([]);
});
