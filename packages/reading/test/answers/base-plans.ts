import type { JsonObject, Step, ToolDescriptor } from "@planwright/plan";

/** A plan as a model should write it, and the expected steps. */
export interface BasePlan {
  readonly name: string;
  readonly query: string;
  /** In canonical form, with `dependsOn` when the model writes it. */
  readonly written: readonly JsonObject[];
  readonly steps: readonly Step[];
}

const text = { type: "string" };
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
});

/** The tools of the base plans. */
export const TOOLS: readonly ToolDescriptor[] = [
  {
    name: "createAuthor",
    inputSchema: object({ name: text, email: text }, ["name", "email"]),
    outputSchema: object({ _id: text, name: text }, ["_id"]),
  },
  {
    name: "createBlog",
    inputSchema: object({ title: text, content: text, authorId: text }, ["title", "authorId"]),
    outputSchema: object({ _id: text }),
  },
  { name: "addComment", inputSchema: object({ blogId: text, text }, ["blogId", "text"]) },
  { name: "listAuthors", annotations: { readOnlyHint: true }, inputSchema: object({}) },
  { name: "getWeather", annotations: { readOnlyHint: true }, inputSchema: object({ city: text }, ["city"]) },
  {
    name: "summarize",
    inputSchema: object({ texts: { type: "array" }, style: { enum: ["short", "long"] } }),
  },
  {
    name: "sendMail",
    inputSchema: object({ to: text, subject: text, body: text, options: { type: "object" } }, ["to"]),
  },
  { name: "files/read", server: "files", inputSchema: object({ path: text }, ["path"]) },
  { name: "s3/read", server: "s3", inputSchema: object({ path: text }, ["path"]) },
];

const call = (id: string, tool: string, args: JsonObject, dependsOn: string[] = []) => ({
  id,
  tool,
  arguments: args,
  dependsOn,
});

function base(name: string, query: string, steps: Step[]): BasePlan {
  return { name, query, steps, written: structuredClone(steps) as unknown as JsonObject[] };
}

/**
 * Their texts contain characters that could be misread as structure: brackets, quotes, colons, slashes,
 * fences, tags, false references.
 */
export const BASE_PLANS: readonly BasePlan[] = [
  base(
    "a chain of three",
    "Create author Alice O'Hara with email alice@test.com, then her blog \"What's {new}, in C#?\", and comment on it: Great // post",
    [
      call("au", "createAuthor", { name: "Alice O'Hara", email: "alice@test.com" }),
      call("bl", "createBlog", { title: "What's {new}, in C#?", authorId: "<<au._id>>" }, ["au"]),
      call("co", "addComment", { blogId: "<<bl._id>>", text: "Great // post" }, ["bl"]),
    ],
  ),
  base("three at once and one after them", "Weather for Tokyo, London and Paris, then a short summary", [
    call("tokyo", "getWeather", { city: "Tokyo" }),
    call("london", "getWeather", { city: "London" }),
    call("paris", "getWeather", { city: "Paris" }),
    call(
      "sum",
      "summarize",
      { texts: ["<<tokyo>>", "<<london.text>>", "In Paris: <<paris.text>>"], style: "short" },
      ["tokyo", "london", "paris"],
    ),
  ]),
  base("one call without arguments", "List all authors", [call("all", "listAuthors", {})]),
  base("values of all kinds", "Mail bob@corp.io about Zürich 東京: 3 numbers, quotes and code", [
    call("mail", "sendMail", {
      to: "bob@corp.io",
      subject: "Zürich 東京 🚀 [1] {2} (3)",
      body: 'He said "hi", then:\n```js\nlet a = {"steps": [1]}; // no comment\n```\n\t# also none </think> \\ end',
      options: {
        retries: 3,
        ratio: -0.5e-3,
        urgent: true,
        quiet: false,
        parent: null,
        tags: ["a", [], {}],
        "odd key": { "": "" },
      },
    }),
  ]),
  base(
    "a loop, a condition and two servers",
    "Read /etc/names from both servers and mail each of bob@corp.io, eve@corp.io",
    [
      call("one", "files/read", { path: "/etc/names" }),
      call("two", "s3/read", { path: "/etc/names" }),
      {
        id: "mails",
        forEach: {
          items: ["bob@corp.io", "eve@corp.io"],
          as: "item",
          errors: "collect",
          do: { tool: "sendMail", arguments: { to: "<<item>>", subject: "<<one.text>> <<two.text>>" } },
        },
        dependsOn: ["one", "two"],
        when: { not: { empty: "<<one.text>>" } },
      },
    ],
  ),
];
