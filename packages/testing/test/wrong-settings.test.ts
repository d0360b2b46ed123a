/** A service that starts with an invalid setting ends with one line, before it starts anything. */
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type BundledService, spawnService, testAndProof } from "../src/index.ts";

const SECRET = "s3cret";
const SERVERS = { MONGODB_URL: "mongodb://127.0.0.1:1/planwright", REDIS_URL: "redis://127.0.0.1:1" };
const MONGODB =
  "MONGODB_URL: must be the address of MongoDB, such as mongodb://127.0.0.1:27017/planwright?replicaSet=rs0";
const REDIS = "REDIS_URL: must be the address of Redis, such as redis://127.0.0.1:6379";
const HOSTS =
  "must be names of hosts with commas between them, such as tools.example.org: without http://, port and path";
const WRONG = "Wrong setting in the environment: ";

type Wrong = [service: BundledService, env: Record<string, string>, line: string | RegExp];

const CASES: Wrong[] = [
  [
    "planner",
    { MODEL: "gpt-4o" },
    'MODEL is "gpt-4o", which is not one of: offline, openai:<model>, anthropic:<model>, google:<model>, mistral:<model>, compatible:<model>',
  ],
  [
    "planner",
    { MODEL: "openai:gpt-4o" },
    "openai:gpt-4o needs a setting: set OPENAI_API_KEY, or MODEL=offline to plan without a model",
  ],
  [
    "planner",
    { MODEL_PRICES_FILE: "nope.json" },
    /^MODEL_PRICES_FILE must contain .*nope\.json cannot be read \(ENOENT\)\n$/,
  ],
  ["planner", { MONGODB_URL: `foo:${SECRET}@db` }, `${WRONG}${MONGODB}`],
  ["planner", { REDIS_URL: "foo" }, `${WRONG}${REDIS}`],
  ["planner", { OTEL_TRACES_EXPORTER: "zipkin" }, `${WRONG}OTEL_TRACES_EXPORTER: must be "otlp" or "none"`],
  ["executor", { MCP_SERVERS_FILE: "servers.json", MONGODB_URL: "foo" }, `${WRONG}${MONGODB}`],
  [
    "executor",
    { MCP_SERVERS_FILE: "servers.json", REDIS_URL: `http://:${SECRET}@redis` },
    `${WRONG}${REDIS}`,
  ],
  ["executor", { MCP_SERVERS_FILE: "nope.json" }, /^.*nope\.json: does not exist.*MCP_SERVERS_FILE.*\n$/],
  ["api", { MONGODB_URL: "mongodb://" }, `${WRONG}${MONGODB}`],
  ["api", { REDIS_URL: "redis://" }, `${WRONG}${REDIS}`],
  ["api", { MCP_HOSTS: "https://plans.example.org" }, `${WRONG}MCP_HOSTS: ${HOSTS}`],
  [
    "api",
    { JWKS_URL: "https://id.example.org/keys", JWT_ISSUER: "me" },
    `${WRONG}JWT_AUDIENCE: is missing: tokens need a configured issuer and audience`,
  ],
  [
    "planwright",
    { MODEL: "gpt-4o", MCP_SERVERS_FILE: "nope.json" },
    /^planner: MODEL is "gpt-4o", which is not one of: .*\n$/,
  ],
  [
    "planwright",
    { MCP_SERVERS_FILE: "nope.json" },
    /^executor: .*nope\.json: does not exist.*MCP_SERVERS_FILE.*\n$/,
  ],
  ["planwright", { MCP_HOSTS: "https://plans.example.org" }, `api: ${WRONG}MCP_HOSTS: ${HOSTS}`],
];
const nameOf = ([service, env]: Wrong) => `${service} ${Object.keys(env).join()}`;
/** Each service, and each setting once. */
const IN_TEST = [
  "planner MODEL_PRICES_FILE",
  "planner OTEL_TRACES_EXPORTER",
  "planner MONGODB_URL",
  "executor MCP_SERVERS_FILE,REDIS_URL",
  "executor MCP_SERVERS_FILE",
  "api JWKS_URL,JWT_ISSUER",
  "planwright MODEL,MCP_SERVERS_FILE",
  "planwright MCP_HOSTS",
];

for (const { cases, options } of testAndProof(CASES, nameOf, IN_TEST))
  test.each(cases)(
    "%s with %o ends with one line that says what is valid",
    options,
    async (service, env, line) => {
      const child = spawnService(service, { ...SERVERS, ...env });
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout ?? expect.unreachable()),
        text(child.stderr ?? expect.unreachable()),
        once(child, "exit"),
      ]);
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: "",
        stderr: typeof line === "string" ? `${line}\n` : expect.stringMatching(line),
      });
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      expect(stderr).not.toContain(SECRET);
    },
  );
