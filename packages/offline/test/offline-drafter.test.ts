import { DraftError } from "@planwright/models";
import { parsePlan, type ToolDescriptor } from "@planwright/plan";
import { toQuestions } from "@planwright/reading";
import { expect, test } from "vitest";
import { BLOG } from "../../models/test/catalogues/blog.ts";
import { tool } from "../../models/test/catalogues/tool.ts";
import { createOfflineDrafter, NotUnderstoodError, planByRules, ValueMissingError } from "../src/index.ts";
import { CALENDAR_AND_MAIL } from "./catalogues/calendar-and-mail.ts";
import { CATALOGUES, SENTENCES } from "./sentences.ts";

/** The plan of a sentence in the short form of the table: `call` is the step's id, the rest its arguments. */
function planned(query: string, tools: ToolDescriptor[]) {
  return planByRules(query, tools).steps.map(({ id, arguments: given, dependsOn }) => ({
    call: id,
    ...given,
    ...(dependsOn ? { after: dependsOn } : {}),
  }));
}

function refusalOf(query: string, tools: ToolDescriptor[]): DraftError {
  try {
    planByRules(query, tools);
  } catch (error) {
    if (error instanceof DraftError) return error;
    throw error;
  }
  throw new TypeError(`"${query}" was planned`);
}

/** The facts of the error about missing values, for a sentence that is understood. */
function missingOf(query: string, tools: ToolDescriptor[]): ValueMissingError["facts"] {
  const error = refusalOf(query, tools);
  if (error instanceof ValueMissingError) return error.facts;
  throw error;
}

/** The answer in the form of `sentences.txt`. */
function answerTo(query: string, tools: ToolDescriptor[]): string[] {
  try {
    return planByRules(query, tools).steps.map(({ id, arguments: given, dependsOn }) =>
      [id, JSON.stringify(given), ...(dependsOn ? [`after ${dependsOn.join(", ")}`] : [])].join(" "),
    );
  } catch (error) {
    if (error instanceof NotUnderstoodError) return [`! ${error.facts.reason}`];
    if (!(error instanceof ValueMissingError)) throw error;
    return error.facts.missing.map(
      ({ tool: name, parameter, said }) => `? ${name}.${parameter}${said === null ? "" : `, not "${said}"`}`,
    );
  }
}

test.each(SENTENCES)("$catalogue: $query", ({ catalogue, query, answer }) => {
  const tools = CATALOGUES[catalogue] ?? [];
  expect(answerTo(query, tools)).toEqual(answer);
});

test.each(SENTENCES.filter(({ answer }) => !/^[?!]/.test(answer[0] ?? "!")))(
  "$catalogue: the plan of $query is valid",
  ({ catalogue, query }) => {
    const tools = CATALOGUES[catalogue] ?? [];
    const read = parsePlan(planByRules(query, tools), { tools });
    expect(read.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  },
);

test("a refusal says what is understood, and to set MODEL for the rest", () => {
  const { message } = refusalOf("Create author Alice with email a@b.test every day", BLOG);
  expect(message).toContain('it is open what "every day" means there');
  expect(message).toContain("<verb> <noun> <name> with <parameter> <value>");
  expect(message).toContain("Set MODEL");
});

test("an empty catalogue is refused, and the message says how to configure servers", () => {
  const error = refusalOf("create author Alice", []);
  expect(error.code).toBe("NO_TOOLS");
  expect(error.message).toContain("MCP_SERVERS_FILE");
});

test("a refusal names the clause and the nearest tools, and never only the first clause", () => {
  const error = refusalOf("Create author Alice with email a@test.com, then publish a magazine", BLOG);
  expect(error.facts).toMatchObject({ clause: "publish a magazine" });
});

test("a missing value names the tool, the parameter and its description", () => {
  const tools = [
    tool("create_user", "Creates a user.", { login: { type: "string", description: "Login name" } }),
  ];
  expect(refusalOf("create a user", tools).facts).toMatchObject({
    missing: [{ tool: "create_user", parameter: "login", description: "Login name" }],
  });
});

test("each missing value becomes a gap of the draft and a question", () => {
  const tools = [
    tool("book_room", "Books a room.", {
      guest: { type: "string", description: "Full name of the guest." },
      email: { type: "string", format: "email" },
      kind: { type: "string", enum: ["single", "double"] },
      nights: { type: "integer", minimum: 1 },
    }),
  ];
  const { open } = missingOf("book a room", tools);
  expect(open.draft).toEqual({ steps: [{ id: "book_room", tool: "book_room", arguments: {} }] });
  expect(toQuestions(open.gaps, { tools, asked: 0 }).map(({ question }) => question)).toEqual([
    'What should "guest" (Full name of the guest) of book_room be? Give a text.',
    'What should "email" of book_room be? Give an e-mail address.',
    'What should "kind" of book_room be? Give one of single, double.',
    'What should "nights" of book_room be? Give a whole number from 1.',
  ]);
});

test("a question names the value that cannot be used", () => {
  const { open } = missingOf("send an email to Bob with subject Hi and body Yo", CALENDAR_AND_MAIL);
  const [asked] = toQuestions(open.gaps, { tools: CALENDAR_AND_MAIL, asked: 0 });
  expect(asked?.question).toContain('"Bob" cannot be used. Give an e-mail address.');
});

test("missing values of several clauses are asked for together, but a clause that is not understood is refused first", () => {
  const missing = refusalOf("create author Alice, then delete comment", BLOG);
  expect(missing.facts).toMatchObject({ missing: [{ parameter: "email" }, { parameter: "id" }] });
  expect(refusalOf("create author Alice, then polish the silver", BLOG).code).toBe("NOT_UNDERSTOOD");
});

test("a step waits for earlier steps that change the same thing, and not for other steps", () => {
  const query =
    "create author Ann with email a@b.test, create blog by Ann titled X about y, create author Bo with email b@b.test, add a comment to that blog by Bo saying hi, then get that blog";
  expect(planned(query, BLOG).at(-1)).toEqual({
    call: "getBlog",
    id: "<<createBlog._id>>",
    after: ["createComment"],
  });
});

test("a tool that does not say which field holds the id is no source of a link", () => {
  const tools = [
    tool("createUser", "Creates a user.", { name: "string" }),
    tool("createTask", "Creates a task.", { title: "string", userId: "string" }),
  ];
  expect(refusalOf("create user Ann, then create task titled Sweep", tools).code).toBe("VALUE_MISSING");
});

test("a contract's provides says which field holds the id", () => {
  const tools = [
    {
      ...tool("createUser", "Creates a user.", { name: "string" }),
      _meta: { "x-orchestration": { provides: ["userId"] } },
    },
    tool("createTask", "Creates a task.", { title: "string", userId: "string" }),
  ];
  expect(planned("create user Ann, then create task titled Sweep", tools)).toEqual([
    { call: "createUser", name: "Ann" },
    { call: "createTask", title: "Sweep", userId: "<<createUser.userId>>" },
  ]);
});

test("a contract's depends_on fills the fields that it names", () => {
  const tools = [
    tool("login", "Logs in.", { user: "string" }, ["token"]),
    {
      ...tool("listInvoices", "Lists invoices.", { token: "string" }),
      _meta: { "x-orchestration": { depends_on: [{ tool: "login", required_fields: ["token"] }] } },
    },
  ];
  expect(planned('login with user "ann", then list invoices', tools)).toEqual([
    { call: "login", user: "ann" },
    { call: "listInvoices", token: "<<login.token>>" },
  ]);
});

test("when two tools fit equally well, neither is chosen", () => {
  const tools = [
    { ...tool("github/create_note", "Creates a note.", { title: "string" }), server: "github" },
    { ...tool("jira/create_note", "Creates a note.", { title: "string" }), server: "jira" },
  ];
  const error = refusalOf("create a note titled Hi", tools);
  expect(error.message).toContain("github/create_note, jira/create_note");
});

test("a sentence longer than 4,000 characters is refused", () => {
  expect(refusalOf(`create author ${"A".repeat(4_000)}`, BLOG).code).toBe("NOT_UNDERSTOOD");
});

test("a refusal cuts long words between two characters", () => {
  const { message } = refusalOf(`create author Alice ${"x".repeat(79)}😀 ${"y".repeat(99)}😀`, BLOG);
  expect(message).not.toMatch(/\p{Surrogate}/u);
});

test("the drafter answers with the JSON text of the plan and has the kind offline", async () => {
  const drafter = createOfflineDrafter();
  const { signal } = new AbortController();
  const draft = await drafter.draft({ query: "list authors", tools: BLOG, signal });
  expect(drafter.kind).toBe("offline");
  expect(JSON.parse(draft.text)).toEqual({
    steps: [{ id: "listAuthors", tool: "listAuthors", arguments: {} }],
  });
});
