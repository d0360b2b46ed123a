import { expect, test } from "vitest";
import { inputDigest, knownPackage, knownPackageProblem, operatorContract } from "./known-contracts.ts";
import { REVIEWED_CONTRACTS } from "./reviewed-contracts.ts";
import { REVIEWED_DIGESTS } from "./reviewed-digests.ts";

const SLACK = "@modelcontextprotocol/server-slack";

test.each<[string, string[], string | undefined]>([
  ["npx", ["-y", SLACK], SLACK],
  ["npx", ["-y", `${SLACK}@2025.4.25`, "--flag"], SLACK],
  ["npx", ["--package=x", "tavily-mcp@latest"], "tavily-mcp"],
  ["bunx", ["tavily-mcp"], "tavily-mcp"],
  ["npx", ["-y", "firecrawl-mcp"], "firecrawl-mcp"],
  ["npx", ["@playwright/mcp@latest", "--headless"], "@playwright/mcp"],
  ["npx", ["-y", "chrome-devtools-mcp@latest"], "chrome-devtools-mcp"],
  ["npx", ["-y", "@wonderwhy-er/desktop-commander@latest"], "@wonderwhy-er/desktop-commander"],
  ["node", [`/srv/node_modules/${SLACK}/dist/index.js`], SLACK],
  ["node", ["C:\\srv\\node_modules\\tavily-mcp\\build\\index.js"], "tavily-mcp"],
  ["node", ["/srv/node_modules/other/node_modules/tavily-mcp/index.js"], "tavily-mcp"],
  ["npx", ["-y", "@someone/server-slack"], undefined],
  ["npx", ["-y", "tavily-mcp-fork"], undefined],
  ["node", ["/srv/tavily-mcp/index.js"], undefined],
  ["node", ["/srv/tavily-mcp"], undefined],
  ["npx", ["-y", "toString"], undefined],
  ["docker", ["run", "-i", "mcp/slack"], undefined],
])("the package of %s %j is %s", (command, args, expected) => {
  expect(knownPackage({ contracts: "known", command, args })).toBe(expected);
  expect(knownPackage({ command, args })).toBeUndefined();
});

test("contracts may name the package, and one without reviewed contracts is refused with the names", () => {
  expect(knownPackage({ contracts: `known:${SLACK}` })).toBe(SLACK);
  expect(knownPackageProblem({ contracts: `known:${SLACK}` })).toBeUndefined();
  expect(knownPackageProblem({ contracts: "known:__proto__" })).toContain("tavily-mcp");
  expect(knownPackageProblem({ contracts: "known", command: "x" })).toContain('write "known:" and one of: ');
});

test("each reviewed tool has a digest and says where its contract comes from, for at least 12 packages", () => {
  const lines = Object.entries(REVIEWED_CONTRACTS).map(([name, { tools }]) => [
    name,
    Object.keys(tools).toSorted(),
  ]);
  const digests = Object.entries(REVIEWED_DIGESTS).map(([name, tools]) => [
    name,
    Object.keys(tools).toSorted(),
  ]);
  expect(Object.fromEntries(digests)).toEqual(Object.fromEntries(lines));
  expect(lines.length).toBeGreaterThanOrEqual(12);
  for (const { tools } of Object.values(REVIEWED_CONTRACTS)) {
    for (const [contract, from] of Object.values(tools)) {
      expect(from).toMatch(/\w: \w/);
      expect([{ side_effects: false }, { idempotency: "natural" }]).toContainEqual(contract);
    }
  }
});

/** As the package serves it. */
const getUserProfile = {
  type: "object",
  properties: { user_id: { type: "string", description: "The ID of the user" } },
  required: ["user_id"],
};
const contractOf = (inputSchema: object, more: object = {}) =>
  operatorContract(
    { contracts: `known:${SLACK}`, tools: {}, ...more },
    "slack_get_user_profile",
    inputSchema as typeof getUserProfile,
  );
const known = { package: SLACK, version: "2025.4.25" };

test("a reviewed tool takes the reviewed contract, which says where it comes from", () => {
  expect(contractOf(getUserProfile)).toEqual({
    side_effects: false,
    known: { ...known, from: "source: it only sends GET users.profile.get", fields: ["side_effects"] },
  });
});

test("a field of the operator wins over the reviewed one", () => {
  const tools = { slack_get_user_profile: { side_effects: true, timeout_ms: 5 } };
  expect(contractOf(getUserProfile, { tools })).toMatchObject({
    ...tools.slack_get_user_profile,
    known: { fields: [] },
  });
});

test.each([
  [
    "a new parameter",
    { ...getUserProfile, properties: { ...getUserProfile.properties, mark: { type: "boolean" } } },
  ],
  ["another type", { ...getUserProfile, properties: { user_id: { type: "number" } } }],
  ["a parameter that is no longer required", { ...getUserProfile, required: [] }],
])("a tool with %s gets no reviewed contract, and keeps that of the operator", (_what, inputSchema) => {
  const problem = "its input schema differs from the reviewed one";
  expect(contractOf(inputSchema)).toEqual({ known: { ...known, problem } });
  expect(contractOf(inputSchema, { tools: { slack_get_user_profile: { barrier: true } } })).toEqual({
    barrier: true,
    known: { ...known, problem },
  });
});

test("a tool that was not reviewed, and a server without contracts, have only the operator's contract", () => {
  const tools = { slack_post_message: { requires_approval: true } };
  const config = { contracts: `known:${SLACK}`, tools };
  expect(operatorContract(config, "slack_post_message", {})).toBe(tools.slack_post_message);
  expect(operatorContract(config, "constructor", {})).toBeUndefined();
  expect(contractOf(getUserProfile, { contracts: undefined })).toBeUndefined();
});

const schema = {
  type: "object",
  properties: { title: { type: ["string", "null"], enum: ["b", "a"] }, n: { default: 1, minimum: 0 } },
  required: ["title", "n"],
};

test.each([
  ["texts", { ...schema, title: "T", description: "d", $schema: "x", $comment: "c" }],
  ["a default value", { ...schema, properties: { ...schema.properties, n: { default: 2, minimum: 0 } } }],
  ["whether unknown fields are refused", { ...schema, additionalProperties: false }],
  ["the order of required", { ...schema, required: ["n", "title"] }],
  [
    "the order of enum and type",
    {
      ...schema,
      properties: { ...schema.properties, title: { type: ["null", "string"], enum: ["a", "b"] } },
    },
  ],
])("%s does not change the digest of a schema", (_what, same) => {
  expect(inputDigest(same)).toBe(inputDigest(schema));
});

test.each([
  ["a parameter named title", { ...schema, properties: { n: schema.properties.n } }],
  ["a value of enum", { ...schema, properties: { ...schema.properties, title: { enum: ["b"] } } }],
  ["a limit", { ...schema, properties: { ...schema.properties, n: { minimum: 1 } } }],
  ["a schema of other fields", { ...schema, additionalProperties: { type: "string" } }],
])("%s changes the digest of a schema", (_what, other) => {
  expect(inputDigest(other)).not.toBe(inputDigest(schema));
});
