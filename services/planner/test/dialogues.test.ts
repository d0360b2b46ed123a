import { createDrafter, type Drafter } from "@planwright/models";
import { createOfflineDrafter, planByRules, ValueMissingError } from "@planwright/offline";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type OpenQuestion,
  type ToolDescriptor,
} from "@planwright/plan";
import { bindTexts, fillGaps } from "@planwright/reading";
import { answer, type ModelServer, startModelServer, testAndProof } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CATALOGUES, SENTENCES } from "../../../packages/offline/test/sentences.ts";
import { createMemoryPlanningStore, type MemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { TOOLS } from "./tools.ts";

/** How a user may answer a question about a value, other than with the value alone. */
const MANNERS: readonly (readonly [string, (value: string, label: string) => string])[] = [
  ["the value alone", (value) => value],
  ["after its label", (value, label) => `${label}: ${value}`],
  [
    "after its label as people write it",
    (value, label) => `${label.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ")} = ${value}`,
  ],
  ["in quotes", (value) => `"${value}"`],
];

/** A value that a schema allows and that no sentence contains. */
function valueFor(schema: JsonObject | null, key: string): JsonValue {
  const { type, enum: choices, format, minimum, items } = schema ?? {};
  if (Array.isArray(choices)) return choices.at(-1) ?? null;
  if (format === "email") return "zoe.q@post.org";
  if (format === "date") return "2031-05-06";
  if (format === "date-time") return "2031-05-06T07:08:09Z";
  if (format === "uri") return "https://quelle.org/7";
  if (type === "integer" || type === "number") return typeof minimum === "number" ? minimum + 1 : 7;
  if (type === "boolean") return true;
  if (type === "array")
    return isJsonObject(items) && items["format"] === undefined
      ? [valueFor(items, key), "zweites"]
      : ["zoe.q@post.org", "max@post.org"];
  return /id$/i.test(key) ? "q-4711" : "Quitte und Apfel";
}

const textOf = (value: JsonValue): string =>
  Array.isArray(value)
    ? value.map(textOf).join(", ")
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
const keyOf = ({ about }: OpenQuestion) => String(about?.keys.at(-1));

/** Answers the open questions as the API does. */
function take(store: MemoryPlanningStore, texts: readonly string[]): void {
  const { request } = store;
  const { bound, unfit } = bindTexts(request.questions, texts);
  expect(unfit).toEqual([]);
  for (const { question, text, value } of bound) {
    const gives =
      question.about && value !== undefined
        ? { stepId: question.about.stepId, keys: question.about.keys, value }
        : null;
    request.answers.push({
      questionId: question.id,
      question: question.question,
      answer: text,
      at: new Date(0),
      gives,
    });
  }
  Object.assign(request, { status: "PLANNING", questions: [] });
  Object.assign(request, { dueAt: new Date(0), claims: 0 });
  request.planning.claimsOfWork = 0;
}

const callsOf = (steps: readonly JsonObject[]) =>
  steps.map(({ id, tool, arguments: args, forEach }) => ({ id, tool, args, forEach }));

/** The calls of the stored plan. */
function plannedCalls(store: MemoryPlanningStore) {
  const plan: { steps: JsonObject[] } = JSON.parse(JSON.stringify(store.plans[0]?.plan ?? { steps: [] }));
  return callsOf(plan.steps);
}

/** The calls that were drafted before the questions, with the values in their gaps. */
function draftedCalls({ request }: MemoryPlanningStore, values: readonly JsonValue[]) {
  const draft = JSON.parse(request.draft?.text ?? '{"steps":[]}');
  const gaps = request.questions.flatMap(({ about }, index) =>
    about ? [{ stepId: about.stepId, keys: about.keys, value: values[index] ?? null }] : [],
  );
  return callsOf(fillGaps(draft, gaps).steps);
}

/** The sentences of the offline drafter's table that it asks about, with the expected gaps. */
const ASKED = SENTENCES.filter(({ answer }) => answer[0]?.startsWith("?")).map(
  ({ catalogue, query, answer }) => ({
    query,
    tools: CATALOGUES[catalogue] ?? [],
    missing: answer.map((line) => /^\? (\S+?)(?=,|$)/.exec(line)?.[1]),
  }),
);
const FRIDAY = {
  query: "Create event titled Lunch next Friday",
  tools: CATALOGUES["mail"] ?? [],
  context: { now: new Date("2026-11-25T09:00:00Z"), timezone: "UTC" },
};
const MORE: readonly (readonly [string, ToolDescriptor[]])[] = [
  ["Create folder", TOOLS],
  ["Create folder, then create note titled Hello", TOOLS],
  ["Create note titled Hello", TOOLS],
  ["Create note, then create folder", TOOLS],
  ["Create folder Work, then create note", TOOLS],
  ["Create folder, create note titled A and create note titled B", TOOLS],
];
const OFFLINE = [
  // With a context, "tomorrow" has one meaning.
  ...ASKED.filter(({ query }) => !query.includes("tomorrow")).map(({ query, tools }) => ({
    query,
    tools,
    context: undefined,
  })),
  FRIDAY,
  ...MORE.map(([query, tools]) => ({ query, tools, context: undefined })),
].flatMap((one) => MANNERS.map(([manner, say]) => ({ ...one, manner, say })));

const nameOf = ({ query, manner }: (typeof OFFLINE)[number]) => `${query}, answered with ${manner}`;
/** For `npm test`: every sentence, answered in one of the manners. */
const EACH_QUERY = OFFLINE.filter(
  (_, index) => index % MANNERS.length === Math.floor(index / MANNERS.length) % MANNERS.length,
);

test("there are at least 120 dialogues", () => {
  expect(OFFLINE.length + MODEL_DIALOGUES.length).toBeGreaterThanOrEqual(120);
});

describe("without a model, answers do not change the drafted calls", () => {
  for (const { cases, options } of testAndProof(OFFLINE, nameOf, EACH_QUERY.map(nameOf)))
    test.each(cases)("$query, answered with $manner", options, async ({ query, tools, context, say }) => {
      const store = createMemoryPlanningStore({ query, tools: [...tools], ...(context && { context }) });
      const drafter = createOfflineDrafter();
      await planInProcess(store, { drafter });
      expect(store.request.status).toBe("NEEDS_INPUT");
      const values = store.request.questions.map((question) =>
        valueFor(question.about?.schema ?? null, keyOf(question)),
      );
      const drafted = draftedCalls(store, values);
      const texts = store.request.questions.map((question, index) =>
        say(textOf(values[index] ?? null), keyOf(question)),
      );
      take(store, texts);
      await planInProcess(store, { drafter });
      expect(store.failures).toEqual([]);
      expect(store.request.status).toBe("READY");
      expect(plannedCalls(store)).toEqual(drafted);
    });
});

test("all values that are missing in a sentence are asked for at once, also over many steps", () => {
  const asked = ASKED.map(({ query, tools }) => {
    const { gaps } = refusalOf(query, tools).facts.open;
    return { query, asked: gaps.map(({ tool, keys }) => `${tool}.${keys.join(".")}`) };
  });
  expect(asked).toEqual(ASKED.map(({ query, missing }) => ({ query, asked: missing })));
});

function refusalOf(...input: Parameters<typeof planByRules>): ValueMissingError {
  try {
    planByRules(...input);
  } catch (error) {
    if (error instanceof ValueMissingError) return error;
    throw error;
  }
  throw new TypeError("the sentence was planned");
}

const WRITE = "Write a note titled Hello into my folder";
const note = (args: JsonObject, id = "createNote") => ({ id, tool: "createNote", arguments: args });

/** The first answer of a model, the answers of the user to its questions, and the expected calls. */
interface ModelDialogue {
  readonly name: string;
  readonly query?: string;
  readonly first: JsonObject;
  readonly asks: readonly (string | RegExp)[];
  readonly says: readonly string[];
  readonly calls: readonly JsonObject[];
}

const MODEL_DIALOGUES: readonly ModelDialogue[] = [
  {
    name: "a gap that it names",
    first: {
      steps: [note({ title: "Hello" })],
      missing: [{ step: "createNote", parameter: "folderId", question: "Which folder?" }],
    },
    asks: ["Which folder?"],
    says: ["f-7a10"],
    calls: [note({ title: "Hello", folderId: "f-7a10" })],
  },
  {
    name: "a gap that is named at the start of its question",
    first: { steps: [note({ title: "Hello" })], missing: ["createNote.folderId: Which folder is it?"] },
    asks: ["Which folder is it?"],
    says: ["f-7a10"],
    calls: [note({ title: "Hello", folderId: "f-7a10" })],
  },
  {
    name: "a gap that only the text of its question names",
    first: { steps: [note({ title: "Hello" })], missing: ["What is the folder id?"] },
    asks: ["What is the folder id?"],
    says: ["folderId: f-7a10"],
    calls: [note({ title: "Hello", folderId: "f-7a10" })],
  },
  {
    name: "a made-up value beside its question",
    first: {
      steps: [note({ title: "Hello", folderId: "f-00001" })],
      missing: [{ step: "createNote", parameter: "folderId", question: "Which folder?" }],
    },
    asks: ["Which folder?"],
    says: ["f-7a10"],
    calls: [note({ title: "Hello", folderId: "f-7a10" })],
  },
  {
    name: "a made-up value that it repeats",
    first: { steps: [note({ title: "Hello", folderId: "f-00001" })] },
    asks: [/folderId/],
    says: ["f-7a10"],
    calls: [note({ title: "Hello", folderId: "f-7a10" })],
  },
  {
    name: "two gaps of two steps, asked as a text each",
    query: "Write two notes into two folders of mine",
    first: {
      steps: [note({}, "n1"), note({ title: "B" }, "n2")],
      missing: [
        { step: "n1", parameter: "title", question: "Title of the first?" },
        { step: "n1", parameter: "folderId", question: "Folder of the first?" },
        { step: "n2", parameter: "folderId", question: "Folder of the second?" },
        { step: "n2", parameter: "title", question: "Title of the second?" },
      ],
    },
    asks: ["Title of the first?", "Folder of the first?", "Folder of the second?", "Title of the second?"],
    says: ["Äpfel & <<n2.title>>", "f-1", "f-2", "Birnen"],
    calls: [
      note({ title: "Äpfel & \\<<n2.title>>", folderId: "f-1" }, "n1"),
      note({ title: "Birnen", folderId: "f-2" }, "n2"),
    ],
  },
  {
    name: "one gap with a question and one without",
    first: {
      steps: [note({})],
      missing: [{ step: "createNote", parameter: "folderId", question: "Which folder?" }],
    },
    asks: [/"title" of createNote/, "Which folder?"],
    says: ["Hello", "f-9"],
    calls: [note({ title: "Hello", folderId: "f-9" })],
  },
  {
    name: "a gap in a step that another one refers to",
    query: "Create a folder, and a note titled Hello in it",
    first: {
      steps: [
        { id: "createFolder", tool: "createFolder", arguments: {} },
        note({ title: "Hello", folderId: "<<createFolder._id>>" }),
      ],
      missing: [{ step: "createFolder", parameter: "name", question: "What shall it be called?" }],
    },
    asks: ["What shall it be called?"],
    says: ["Work"],
    calls: [
      { id: "createFolder", tool: "createFolder", arguments: { name: "Work" } },
      note({ title: "Hello", folderId: "<<createFolder._id>>" }),
    ],
  },
];

describe("with a model the draft is continued, and no new draft is requested", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());

  function scripted(...answers: JsonObject[]): { drafter: Drafter; asked: () => number } {
    let asked = 0;
    server.script(() => answer(answers[Math.min(asked++, answers.length - 1)] ?? {}));
    const drafter = createDrafter({
      MODEL: "openai:test",
      OPENAI_BASE_URL: server.openAiUrl,
      MODEL_MAX_RETRIES: 0,
      MODEL_TIMEOUT_MS: 600_000,
    });
    return { drafter, asked: () => asked };
  }

  test.each(MODEL_DIALOGUES)("$name", async ({ query = WRITE, first, asks, says, calls }) => {
    const { drafter, asked } = scripted(first);
    const store = createMemoryPlanningStore({ query, tools: TOOLS });
    await planInProcess(store, { drafter });
    const before = asked();
    expect(store.request.questions.map(({ question }) => question)).toEqual(
      asks.map((each) => (typeof each === "string" ? each : expect.stringMatching(each))),
    );
    expect(store.request.draft?.origin).toEqual({ kind: "model", model: "openai:test" });
    take(store, says);
    await planInProcess(store, { drafter });
    expect(store.failures).toEqual([]);
    expect(plannedCalls(store)).toEqual(callsOf([...calls]));
    expect(asked()).toBe(before);
    expect(store.plans[0]?.origin).toEqual({ kind: "model", model: "openai:test" });
  });

  test("a question about no argument is answered in words, and the model makes a new draft with them", async () => {
    const { drafter, asked } = scripted(
      { steps: [], missing: ["Which folder do you mean?"] },
      { steps: [note({ title: "Hello", folderId: "f-7a10" })] },
    );
    const store = createMemoryPlanningStore({ query: WRITE, tools: TOOLS });
    await planInProcess(store, { drafter });
    expect(store.request).toMatchObject({ draft: null, questions: [{ about: null }] });
    take(store, ["the one with the id f-7a10"]);
    await planInProcess(store, { drafter });
    expect(asked()).toBe(2);
    expect(plannedCalls(store)).toEqual(callsOf([note({ title: "Hello", folderId: "f-7a10" })]));
  });

  test("the numbers of questions continue for the lifetime of a request", async () => {
    const { drafter } = scripted(
      { steps: [], missing: ["Which folder do you mean?"] },
      { steps: [], missing: ["And which title?"] },
    );
    const store = createMemoryPlanningStore({ query: WRITE, tools: TOOLS });
    await planInProcess(store, { drafter });
    const [first] = store.request.questions;
    take(store, ["mine"]);
    await planInProcess(store, { drafter });
    expect([first?.id, store.request.questions[0]?.id]).toEqual(["q1", "q2"]);
  });

  test("a draft whose tool was removed meanwhile is repaired by the model", async () => {
    const { drafter, asked } = scripted(
      {
        steps: [note({ title: "Hello" })],
        missing: [{ step: "createNote", parameter: "folderId", question: "Which?" }],
      },
      { steps: [{ id: "createNote", tool: "writeNote", arguments: { title: "Hello", folderId: "f-7a10" } }] },
    );
    const input = { query: WRITE, tools: [...TOOLS] };
    const store = createMemoryPlanningStore(input);
    await planInProcess(store, { drafter });
    input.tools = TOOLS.map((tool) => (tool.name === "createNote" ? { ...tool, name: "writeNote" } : tool));
    take(store, ["f-7a10"]);
    await planInProcess(store, { drafter });
    expect(asked()).toBe(2);
    expect(store.plans[0]?.plan?.steps).toMatchObject([{ tool: "writeNote" }]);
  });
});
