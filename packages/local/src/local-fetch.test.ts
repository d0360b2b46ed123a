import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createClient, graphql } from "@planwright/client";
import { expect, onTestFinished, test } from "vitest";
import { localFetch } from "./local-fetch.ts";

/** A server that answers each request by what it got. */
async function echo(): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, headers } = request;
    const name = `${method} ${headers.authorization} ${await text(request)}`;
    response.writeHead(request.url === "/moved" ? 302 : 200, { "set-cookie": ["a=1", "b=2"], location: "/" });
    response.end(JSON.stringify({ data: { getAvailableTools: [{ name }] } }));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("an answer has status, headers and body; a redirect is an answer", async () => {
  const url = await echo();
  const answer = await localFetch(`${url}/moved`);
  expect(answer).toMatchObject({ status: 302, ok: false });
  expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await answer.json()).toEqual({ data: { getAvailableTools: [{ name: "GET undefined " }] } });
});

test("a connection that fails, and a signal, reject", async () => {
  await expect(localFetch("http://127.0.0.1:1/")).rejects.toThrow("ECONNREFUSED");
  await expect(localFetch(await echo(), { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});

test("a client sends its operations by it, with its credential", async () => {
  const client = createClient({ url: await echo(), token: "pk_one", fetch: localFetch });
  const { getAvailableTools } = await client.execute(graphql("{ getAvailableTools { name } }"), {});
  expect(getAvailableTools[0]?.name).toMatch(/^POST Bearer pk_one \{"query":"\{\\n {2}getAvailableTools/);
});
