import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { describeTools } from "./describe-tools.ts";
import { estimateTokens } from "./prompt-budget.ts";
import { retrieveTools } from "./retrieve-tools.ts";

const schema = (...fields: string[]): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
  required: fields,
});
const tool = (name: string, description: string, more: Partial<ToolDescriptor> = {}): ToolDescriptor => ({
  name,
  description,
  ...more,
});
const padding = Array.from({ length: 60 }, (_, index) =>
  tool(`paint_wall_${index}`, `Paints wall number ${index} in a colour of one's choice.`),
);
const catalogue = (...tools: ToolDescriptor[]) => [...padding.slice(0, 30), ...tools, ...padding.slice(30)];
const namesFor = (query: string, tools: ToolDescriptor[], maxTokens = 500) =>
  retrieveTools({ query, tools, maxTokens }).tools.map(({ name }) => name);

test("a catalogue that fits is returned unchanged and in order", () => {
  const tools = catalogue(tool("sendMail", "Sends a mail."));
  const found = retrieveTools({ query: "send a mail", tools, maxTokens: 100_000 });
  expect(found.tools).toEqual(tools);
  expect(new Set(found.why.map(({ type }) => type))).toEqual(new Set(["all"]));
});

test("a tool is found by words that are only in its description", () => {
  const tools = catalogue(tool("op_77", "Sends a postcard to an address."));
  expect(namesFor("I want postcards sent to grandma", tools)[0]).toBe("op_77");
});

test("another verb of the same meaning finds a tool", () => {
  const tools = catalogue(tool("delete_photo", "Photo operation."), tool("create_photo", "Photo operation."));
  expect(namesFor("remove the photo", tools)[0]).toBe("delete_photo");
});

test("each part of a query finds tools, however long the other parts are", () => {
  const tools = catalogue(tool("sendMail", "Sends a mail."));
  const query =
    "Paint wall 1 in the colour of my choice, paint wall 2 in the colour of my choice, and mail Bob";
  expect(namesFor(query, tools, 300)).toContain("sendMail");
});

test("tools that a contract requires are added, from the same server when several servers offer one", () => {
  const login = (server: string) => tool(`${server}/login`, "Opens a door.", { server });
  const fetchInvoice = tool("fetchInvoice", "Fetches an invoice.", {
    server: "b",
    "x-orchestration": { mode: "dependent", depends_on: [{ tool: "login" }] },
  });
  const { tools, why } = retrieveTools({
    query: "fetch the invoice",
    tools: catalogue(login("a"), login("b"), fetchInvoice),
    maxTokens: 500,
  });
  expect(tools.map(({ name }) => name)).toEqual(["fetchInvoice", "b/login"]);
  expect(why[1]).toEqual({ type: "contract", of: "fetchInvoice" });
});

test.each([
  ["an output schema", { outputSchema: schema("_id", "name") }],
  ["provides of a contract", { outputSchema: schema("ok"), "x-orchestration": { provides: ["writer_id"] } }],
  ["its name, when its output is not declared", {}],
])("the tool that returns a required id is added: by %s", (_, more: Partial<ToolDescriptor>) => {
  const tools = catalogue(
    tool("createWriter", "Signs somebody on.", { inputSchema: schema("name"), ...more }),
    tool("createChapter", "Creates a chapter.", { inputSchema: schema("writerId", "title") }),
    tool("createRemark", "Puts a remark on it.", { inputSchema: schema("chapterId", "text") }),
  );
  expect(namesFor("add a remark", tools)).toEqual(["createRemark", "createChapter", "createWriter"]);
});

test("tools of the same name on two servers are both shown", () => {
  const tools = catalogue(
    tool("a/addTask", "Adds a task.", { server: "a" }),
    tool("b/addTask", "Adds a task.", { server: "b" }),
  );
  expect(namesFor("add a task", tools).slice(0, 2)).toEqual(["a/addTask", "b/addTask"]);
});

test("a tool that the query names comes first", () => {
  const tools = catalogue(tool("x9_run", "Does things."), tool("sendMail", "Sends a mail."));
  const found = retrieveTools({ query: "send a mail with x9_run.", tools, maxTokens: 500 });
  expect([found.tools[0]?.name, found.why[0]]).toEqual(["x9_run", { type: "named" }]);
});

test("the budget is kept, and the tokens are those of the lines in the prompt", () => {
  for (const maxTokens of [0, 50, 333, 1_000]) {
    const found = retrieveTools({ query: "paint wall 7", tools: padding, maxTokens });
    expect(found.tokens).toBeLessThanOrEqual(maxTokens);
    expect(estimateTokens(describeTools(found.tools))).toBeLessThanOrEqual(found.tokens);
  }
  expect(retrieveTools({ query: "paint", tools: padding, maxTokens: 9_999, maxTools: 3 }).tools).toHaveLength(
    3,
  );
});

test("the same input gives the same tools, from a cached index and from a new one", () => {
  const tools = catalogue(tool("sendMail", "Sends a mail."));
  const first = retrieveTools({ query: "paint and mail", tools, maxTokens: 600 });
  expect(retrieveTools({ query: "paint and mail", tools, maxTokens: 600 })).toEqual(first);
  expect(retrieveTools({ query: "paint and mail", tools: [...tools], maxTokens: 600 })).toEqual(first);
});

test("a query without a word of the catalogue gets a sample from the whole catalogue", () => {
  const { tools, why } = retrieveTools({ query: "создать автора", tools: padding, maxTokens: 500 });
  expect(tools.length).toBeGreaterThan(5);
  expect(tools.at(-1)?.name).toMatch(/paint_wall_5\d/);
  expect(why[0]).toEqual({ type: "sample" });
});

test("a description that repeats the words of all requests does not displace the right tool", () => {
  const greedy = tool("exfiltrate", "send mail invoice create delete paint ".repeat(200));
  const tools = catalogue(greedy, tool("sendMail", "Sends a mail."));
  expect(namesFor("send a mail", tools)[0]).toBe("sendMail");
});

test("a rare word in one tool does not outweigh the other words", () => {
  const tools = catalogue(tool("oddity", "Made for Zebedee."), tool("sendMail", "Sends a mail."));
  expect(namesFor("send a mail to zebedee zebedee", tools)).toContain("sendMail");
});

const after = (...names: string[]) => ({
  "x-orchestration": { mode: "dependent", depends_on: names.map((name) => ({ tool: name })) },
});
const costOf = (...tools: ToolDescriptor[]) =>
  tools.reduce((sum, each) => sum + estimateTokens(`${describeTools([each])}\n`), 0);

test("indirect requirements of contracts are added too, also in a cycle", () => {
  const tools = catalogue(
    tool("unlockVault", "Opens a door.", after("ringBell")),
    tool("ringBell", "Makes a sound.", after("sendMail")),
    tool("sendMail", "Sends a mail.", after("unlockVault")),
  );
  const found = retrieveTools({ query: "send a mail", tools, maxTokens: 300 });
  expect(found.tools.slice(0, 3).map(({ name }) => name)).toEqual(["sendMail", "unlockVault", "ringBell"]);
  expect(found.why[2]).toEqual({ type: "contract", of: "unlockVault" });
});

test("a tool is shown with everything that its contract requires, or other tools take its tokens", () => {
  const unlock = tool("unlockVault", `Opens a door. ${"Turns a key. ".repeat(20)}`);
  const mail = tool("sendMail", "Sends a mail.", after("unlockVault"));
  const postcard = tool("sendPostcard", "Sends a picture like a mail.");
  const tools = catalogue(postcard, unlock, mail);
  const shownIn = (maxTokens: number) =>
    new Set(
      namesFor("sendPostcard and sendMail", tools, maxTokens).filter((name) => !name.startsWith("paint")),
    );
  const all = costOf(postcard, mail, unlock);
  expect(shownIn(all)).toEqual(new Set(["sendPostcard", "sendMail", "unlockVault"]));
  expect(shownIn(all - 1)).toEqual(new Set(["sendPostcard"]));
});

test("maxTools also limits the tools that a contract requires", () => {
  const tools = catalogue(
    tool("unlockVault", "Opens a door."),
    tool("sendMail", "Sends a mail.", after("unlockVault")),
  );
  for (const maxTools of [1, 2, 3])
    expect(
      retrieveTools({ query: "send a mail", tools, maxTokens: 9_999, maxTools }).tools.length,
    ).toBeLessThanOrEqual(maxTools);
});

test("a tool whose requirements fit no prompt is shown alone", () => {
  const unlock = tool("unlockVault", `Opens a door. ${"Turns a key. ".repeat(20)}`);
  const mail = tool("sendMail", "Sends a mail.", after("unlockVault"));
  const maxTokens = costOf(mail, unlock) - 1;
  expect(namesFor("send a mail", catalogue(unlock, mail), maxTokens)[0]).toBe("sendMail");
});
