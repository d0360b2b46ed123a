/**
 * With INTROSPECTION=off the service as a process reveals no names of its schema that the client did not
 * send.
 */
import { testServers } from "@planwright/testing";
import { buildSchema, isScalarType } from "graphql";
import { beforeAll, expect, test } from "vitest";
import { SDL } from "../src/graphql/sdl.ts";
import { startApi } from "./api-process.ts";
import { webSocketClient } from "./web-socket-client.ts";

/** Invalid documents, each for another kind of message in which GraphQL quotes the schema. */
const INVALID: { query: string; variables?: object }[] = [
  { query: "{ requests(status: [FAILE]) { nodes { id } } }" },
  { query: '{ requests(status: ["FAILED"]) { nodes { id } } }' },
  { query: "{ requests(order: NEWEST) { nodes { id } } }" },
  { query: "{ requests(order: 7) { nodes { id } } }" },
  { query: "{ requests(filter: { needs: APPROVALS }) { nodes { id } } }" },
  { query: "{ requests(filter: { statu: FAILED }) { nodes { id } } }" },
  { query: "{ requests(filter: 3) { nodes { id } } }" },
  { query: "{ requests(first: true) { nodes { id } } }" },
  { query: "{ requests }" },
  { query: "{ requests { nodes } }" },
  { query: "{ requests { nodes { id { x } } } }" },
  { query: "{ request { id } }" },
  { query: '{ request(requestId: "x") { planIdd } }' },
  { query: "query ($x: String) { request(requestId: $x) { id } }" },
  { query: "query ($x: Reques) { request(requestId: $x) { id } }" },
  { query: '{ request(requestId: "x") { ... on PlanStep { id } } }' },
  {
    query: "query ($o: [RequestStatus!]) { requests(status: $o) { nodes { id } } }",
    variables: { o: ["FAILE"] },
  },
  {
    query: "query ($f: RequestFilter) { requests(filter: $f) { nodes { id } } }",
    variables: { f: { needs: "APPROVALS", status: ["FAILE"] } },
  },
  {
    query: "query ($f: RequestFilter) { requests(filter: $f) { nodes { id } } }",
    variables: { f: { createdFrom: "yesterday", more: 1 } },
  },
  { query: 'mutation { resolveInDoubt(requestId: "x", stepId: "s", resolution: COMPLETE) { status } }' },
  { query: "mutation { submitPlan { requestId } }" },
  { query: "subscription { requestUpdate { status } }" },
  { query: "subscription { requestUpdated { status } }" },
];

let url: string;
beforeAll(async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const stop: (() => Promise<void>)[] = [];
  const settings = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix };
  url = await startApi({ ...settings, INTROSPECTION: "off" }, (end) => void stop.push(end));
  return async () => {
    for (const end of stop) await end();
  };
});

/** Names of our types and enum values in an answer that the client did not send. */
function revealedNames(
  answer: string,
  { query, variables }: { query: string; variables?: object },
): string[] {
  const types = Object.values(buildSchema(SDL).getTypeMap()).filter(
    (type) => !type.name.startsWith("__") && !isScalarType(type),
  );
  const values = types.flatMap((type) =>
    "getValues" in type ? type.getValues().map(({ name }) => name) : [],
  );
  const written = new Set(`${query} ${JSON.stringify(variables)}`.match(/\w+/g));
  const answerNames = answer.replaceAll(/"(?:code|message|remedy|extensions)":/g, "").match(/\w+/g) ?? [];
  const names = new Set([...types.map(({ name }) => name), ...values]);
  return answerNames.filter((word) => names.has(word) && !written.has(word));
}

test.each(INVALID)(
  "the answer to $query $variables reveals no type and no value of the schema",
  async (wrong) => {
    const headers = { "content-type": "application/json" };
    const accept = "text/event-stream";
    const body = JSON.stringify(wrong);
    const plain = await fetch(url, { method: "POST", headers, body });
    const streamed = await fetch(`${url}/stream`, { method: "POST", headers: { ...headers, accept }, body });
    const socket = await webSocketClient(url)
      .iterate({ ...wrong } as { query: string })
      .next()
      .catch((errors: unknown) => errors);
    for (const text of [await plain.text(), await streamed.text(), JSON.stringify(socket)]) {
      expect(text).toMatch(/GRAPHQL_VALIDATION_FAILED|BAD_USER_INPUT|BAD_REQUEST/);
      expect(text).not.toContain("Did you mean");
      expect([text, revealedNames(text, wrong)]).toEqual([text, []]);
    }
  },
);
