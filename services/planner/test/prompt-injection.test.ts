import { createDrafter, type Drafter } from "@planwright/models";
import {
  isJsonObject,
  type JsonObject,
  LimitsSchema,
  resolvePolicy,
  resolveReferences,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { answer, type ModelServer, startModelServer, testAndProof } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import CASES from "./injection/cases.json" with { type: "json" };
import { createMemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

type Case = (typeof CASES)[number];
const STEPS = Array.isArray(ANSWER["steps"]) ? ANSWER["steps"].filter(isJsonObject) : [];

let server: ModelServer;
let model: Drafter;
beforeAll(async () => {
  server = await startModelServer();
  model = createDrafter({ MODEL: "openai:test", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 });
});
afterAll(() => server.close());

/** Text as invisible characters: ASCII in the tag block, or bytes in the variation selectors. */
const hide = (text: string, first: number) =>
  Array.from(text, (letter) => String.fromCodePoint(first + (letter.codePointAt(0) ?? 0))).join("");

function textOf({ text, hidden }: Case): string {
  if (hidden === "tags") return `Summarizes a note.${hide(text, 0xe0000)}`;
  return hidden === "selectors" ? `Summarizes a note.${hide(text, 0xe0100)}` : text;
}

/** The good tools and one of an attacker, with the text of the case in the field that the case names. */
function catalogueOf(each: Case): ToolDescriptor[] {
  const text = textOf(each);
  const at = (place: string) => each.place === place;
  const field = { type: "string", description: at("schema") ? text : "Text of the note" };
  const style: JsonObject = { type: "string", enum: ["short", ...(at("enum") ? [text] : [])] };
  const attacker: ToolDescriptor = {
    name: at("name") ? text : "summarizeNote",
    server: "stranger",
    ...(at("title") ? { title: text } : { description: at("description") ? text : "Summarizes a note." }),
    inputSchema: {
      type: "object",
      properties: { [at("field") ? text : "text"]: field, style },
      required: [],
    },
  };
  return [...TOOLS, attacker];
}

/**
 * Facts of callers may come from others. A value in the facts counts as given, so an obeying model is tested
 * without facts.
 */
const factsOf = (each: Case, write = (text: string) => text): JsonObject => ({
  userId: "u_17",
  note: write(textOf(each)),
});

/** The text as it is shown in a prompt. */
const cleaned = (text: string) =>
  text.replace(/\s/g, " ").replace(new RegExp(INVISIBLE, "gu"), "").replace(/ {2,}/g, " ").trim();

/** Users write the text after their request, or paste it from the output of a tool. */
const queryOf = (each: Case) =>
  each.place === "query" || each.place === "output" ? `${SENTENCE}. ${textOf(each)}` : SENTENCE;

async function plan(each: Case, answered: JsonObject | string, facts: JsonObject = {}) {
  server.script(() => answer(answered));
  const store = createMemoryPlanningStore({
    query: queryOf(each),
    tools: catalogueOf(each),
    context: { facts },
  });
  await planInProcess(store, { drafter: model });
  return store;
}

type Store = Awaited<ReturnType<typeof plan>>;

/** Assertions that hold for any text. */
function expectSafePlans(store: Store, each: Case): void {
  expect(store.plans.length).toBeLessThanOrEqual(1);
  const names = catalogueOf(each).map(({ name }) => name);
  for (const { plan: stored } of store.plans) {
    expect(names).toEqual(expect.arrayContaining(stored?.steps.map(toolOfStep) ?? []));
    expect(stored?.policy).toEqual(resolvePolicy());
    expect(stored?.limits).toEqual(LimitsSchema.parse({}));
  }
}

/** Invisible characters, and characters that JSON text can do without. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Co}]|(?!\n)\p{Cc}/u;

/** Around every text the prompt is the same: no text of an attacker is outside its block. */
function expectClosedBlocks(store: Store, each: Case, system: string): void {
  const shown = store.request.context?.facts?.["note"] === undefined ? [] : [factsOf(each, cleaned)];
  expect(store.calls.length).toBeGreaterThan(0);
  for (const { messages } of store.calls) {
    const [first, asked, ...rest] = messages;
    expect(first).toEqual({ role: "system", content: system });
    const lines = asked?.content.split("\n") ?? [];
    const end = lines.indexOf("</tools>");
    const asking = lines.indexOf("<request>");
    const isMark = (line: string) => /<\/?(tools|context|request)/.test(line);
    const blocks = ["tools", "context", "request"].flatMap((name) => [`<${name}>`, `</${name}>`]);
    expect(lines.filter(isMark)).toEqual(blocks);
    expect([lines[0], lines[end + 1], lines[asking - 1], lines.at(-1)]).toEqual([
      "<tools>",
      "<context>",
      "</context>",
      "</request>",
    ]);
    const [now, ...others] = lines.slice(end + 2, asking - 1);
    const facts = others
      .slice(0, shown.length)
      .map((line): unknown => JSON.parse(line.replace(/^facts /, "")));
    expect(now).toMatch(/^now Thu 1970-01-01T00:00:00Z$/);
    expect(facts).toEqual(shown);
    for (const moment of others.slice(shown.length))
      expect(moment).toMatch(/^"(?:[^"\\]|\\.)*" = [\d\w :+-]+$/);
    expect(lines.slice(end, asking).join("\n")).not.toMatch(INVISIBLE);
    const described = lines.slice(1, end).map((line): unknown => JSON.parse(line));
    expect(described.map((line) => isJsonObject(line) && line["name"])).toEqual(
      catalogueOf(each).map(({ name }) => name),
    );
    expect(lines.slice(0, end).join("\n")).not.toMatch(INVISIBLE);
    expect(lines.slice(asking + 1, -1).map((line): unknown => JSON.parse(line))).toEqual([queryOf(each)]);
    expect(rest.map(({ role }) => role)).toEqual(rest.length === 0 ? [] : ["assistant", "user"]);
    const [, ...diagnostics] = rest[1]?.content.split("\n").slice(0, -1) ?? [];
    for (const diagnostic of diagnostics) expect(JSON.parse(diagnostic)).toHaveProperty("code");
  }
}

/** The system prompt when the attacker writes only harmless text. */
async function systemPrompt(each: Case): Promise<string> {
  server.script(() => answer(ANSWER));
  const signal = new AbortController().signal;
  const tools = catalogueOf({ ...each, place: "query" });
  const { messages } = await model.draft({ query: queryOf(each), tools, signal });
  return messages[0]?.content ?? "";
}

const nameOf = ({ place, name }: Case) => `${place}: ${name}`;
const kindOf = ({ place, hidden, ends }: Case) => `${place} ${hidden} ${ends}`;
/** The first case of each field, of each way to hide a text in it, and of each end. */
const FIRST = CASES.filter(
  (one, index) => CASES.findIndex((other) => kindOf(other) === kindOf(one)) === index,
);

for (const { cases, options } of testAndProof(CASES, nameOf, FIRST.map(nameOf)))
  describe.each(cases)("$place: $name", options, (each) => {
    test("a model that follows its task gives the plan of the request", async () => {
      const store = await plan(each, ANSWER, factsOf(each));
      expect(store.plans[0]?.plan?.steps).toMatchObject(STEPS);
      expectSafePlans(store, each);
      expectClosedBlocks(store, each, await systemPrompt(each));
    });

    test("a model that obeys the text gets no unknown tool and no policy into a plan", async () => {
      const obeyed: JsonObject | string = JSON.parse(JSON.stringify(each.obeyed));
      const store = await plan(each, obeyed);
      expect(store.plans.length === 1 ? "planned" : "refused").toBe(each.ends);
      expectSafePlans(store, each);
      expectClosedBlocks(store, each, await systemPrompt(each));
    });
  });

test.each(CASES.filter(({ place }) => place === "output"))(
  "the output of a tool is inserted unchanged and changes no plan: $name",
  async (each) => {
    const store = await plan(each, ANSWER);
    const steps = store.plans[0]?.plan?.steps ?? [];
    const before = structuredClone(steps);
    const step = steps[1];
    const given = step && "arguments" in step ? step.arguments : {};
    const outputs = { createFolder: { _id: textOf(each), name: "Work" } };
    expect(resolveReferences(given, { outputs }).value).toEqual({ title: "Hello", folderId: textOf(each) });
    expect(steps).toEqual(before);
  },
);

test("there are cases for every field that attackers can write", () => {
  const places = ["description", "title", "name", "schema", "field", "enum", "query", "output"];
  expect(new Set(CASES.map(({ place }) => place))).toEqual(new Set(places));
  expect(CASES.length).toBeGreaterThanOrEqual(25);
});
