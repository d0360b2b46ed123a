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
import { answer, type ModelServer, startModelServer } from "@planwright/testing";
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

/** Text as characters that show nothing: an ASCII in the tag block, or a byte in the variation selectors. */
const hide = (text: string, first: number) =>
  Array.from(text, (letter) => String.fromCodePoint(first + (letter.codePointAt(0) ?? 0))).join("");

function textOf({ text, hidden }: Case): string {
  if (hidden === "tags") return `Summarizes a note.${hide(text, 0xe0000)}`;
  return hidden === "selectors" ? `Summarizes a note.${hide(text, 0xe0100)}` : text;
}

/** The good tools and one of a stranger, who puts the text of the case where the case says. */
function catalogueOf(each: Case): ToolDescriptor[] {
  const text = textOf(each);
  const at = (place: string) => each.place === place;
  const field = { type: "string", description: at("schema") ? text : "Text of the note" };
  const style: JsonObject = { type: "string", enum: ["short", ...(at("enum") ? [text] : [])] };
  const stranger: ToolDescriptor = {
    name: at("name") ? text : "summarizeNote",
    server: "stranger",
    ...(at("title") ? { title: text } : { description: at("description") ? text : "Summarizes a note." }),
    inputSchema: {
      type: "object",
      properties: { [at("field") ? text : "text"]: field, style },
      required: [],
    },
  };
  return [...TOOLS, stranger];
}

/** Users write the text behind their wish, or paste there what a tool has said. */
const queryOf = (each: Case) =>
  each.place === "query" || each.place === "output" ? `${SENTENCE}. ${textOf(each)}` : SENTENCE;

async function plan(each: Case, answered: JsonObject | string) {
  server.script(() => answer(answered));
  const store = createMemoryPlanningStore({ query: queryOf(each), tools: catalogueOf(each) });
  await planInProcess(store, { drafter: model });
  return store;
}

type Store = Awaited<ReturnType<typeof plan>>;

/** What holds whatever anybody wrote. */
function expectSafePlans(store: Store, each: Case): void {
  expect(store.plans.length).toBeLessThanOrEqual(1);
  const names = catalogueOf(each).map(({ name }) => name);
  for (const { plan: stored } of store.plans) {
    expect(names).toEqual(expect.arrayContaining(stored?.steps.map(toolOfStep) ?? []));
    expect(stored?.policy).toEqual(resolvePolicy());
    expect(stored?.limits).toEqual(LimitsSchema.parse({}));
  }
}

/** What nobody's eyes see, and what JSON text can do without. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Co}]|(?!\n)\p{Cc}/u;

/** The prompt is the same program around every text: nothing of a stranger stands outside its block. */
function expectClosedBlocks(store: Store, each: Case, system: string): void {
  expect(store.calls.length).toBeGreaterThan(0);
  for (const { messages } of store.calls) {
    const [first, asked, ...rest] = messages;
    expect(first).toEqual({ role: "system", content: system });
    const lines = asked?.content.split("\n") ?? [];
    const end = lines.indexOf("</tools>");
    const isMark = (line: string) => /<\/?(tools|request)/.test(line);
    expect(lines.filter(isMark)).toEqual(["<tools>", "</tools>", "<request>", "</request>"]);
    expect([lines[0], ...lines.slice(end + 1, end + 2), lines.at(-1)]).toEqual([
      "<tools>",
      "<request>",
      "</request>",
    ]);
    const described = lines.slice(1, end).map((line): unknown => JSON.parse(line));
    expect(described.map((line) => isJsonObject(line) && line["name"])).toEqual(
      catalogueOf(each).map(({ name }) => name),
    );
    expect(lines.slice(0, end).join("\n")).not.toMatch(INVISIBLE);
    expect(lines.slice(end + 2, -1).map((line): unknown => JSON.parse(line))).toEqual([queryOf(each)]);
    expect(rest.map(({ role }) => role)).toEqual(rest.length === 0 ? [] : ["assistant", "user"]);
    const [, ...findings] = rest[1]?.content.split("\n").slice(0, -1) ?? [];
    for (const finding of findings) expect(JSON.parse(finding)).toHaveProperty("code");
  }
}

async function systemPrompt(): Promise<string> {
  server.script(() => answer(ANSWER));
  const signal = new AbortController().signal;
  const { messages } = await model.draft({ query: SENTENCE, tools: TOOLS, signal });
  return messages[0]?.content ?? "";
}

describe.each(CASES)("$place: $name", (each) => {
  test("a model that keeps to its task gives the plan of the request", async () => {
    const store = await plan(each, ANSWER);
    expect(store.plans[0]?.plan?.steps).toMatchObject(STEPS);
    expectSafePlans(store, each);
    expectClosedBlocks(store, each, await systemPrompt());
  });

  test("a model that obeys gets no tool from outside the catalogue and no policy into a plan", async () => {
    const obeyed: JsonObject | string = JSON.parse(JSON.stringify(each.obeyed));
    const store = await plan(each, obeyed);
    expect(store.plans.length === 1 ? "planned" : "refused").toBe(each.ends);
    expectSafePlans(store, each);
    expectClosedBlocks(store, each, await systemPrompt());
  });
});

test.each(CASES.filter(({ place }) => place === "output"))(
  "what a tool gave is put in as it is and changes no plan: $name",
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

test("there are cases for every place in which strangers write", () => {
  const places = ["description", "title", "name", "schema", "field", "enum", "query", "output"];
  expect(new Set(CASES.map(({ place }) => place))).toEqual(new Set(places));
  expect(CASES.length).toBeGreaterThanOrEqual(25);
});
