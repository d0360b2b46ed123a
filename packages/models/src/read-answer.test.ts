import { expect, test } from "vitest";
import { readAnswer } from "./read-answer.ts";

const PLAN = { steps: [{ id: "a", tool: "a", arguments: { text: "x } ] { [" } }] };
const TEXT = JSON.stringify(PLAN);

test.each([
  { name: "plain JSON", text: TEXT },
  { name: "JSON with space around it", text: `\n  ${TEXT}\n` },
  { name: "a code fence", text: `\`\`\`json\n${TEXT}\n\`\`\`` },
  { name: "a fence in prose", text: `Here you go:\n\n\`\`\`\n${TEXT}\n\`\`\`\nAnything else?` },
  { name: "JSON in prose", text: `Sure! ${TEXT} I hope that helps [1].` },
  { name: "thinking before it", text: `<think>{"steps": maybe}</think>${TEXT}` },
  { name: "JSON inside a JSON text", text: JSON.stringify(TEXT) },
  { name: "a wrapper", text: `{"plan":{"plan":${TEXT}}}` },
  { name: "nothing missing", text: JSON.stringify({ ...PLAN, missing: null }) },
])("$name is read as it stands", ({ text }) => {
  expect(readAnswer(text)).toEqual({ ok: true, value: PLAN, isRepaired: false });
});

test.each([
  { name: "trailing commas", text: '{"steps":[{"id":"a","tool":"b",},],}' },
  { name: "single quotes", text: "{'steps':[{'id':'a','tool':'b'}]}" },
  { name: "curly quotes", text: "{“steps”:[{“id”:“a”,“tool”:“b”}]}" },
  { name: "comments", text: '{"steps":[{"id":"a", // first\n "tool":"b"}]}' },
  { name: "bare keys", text: '{steps:[{id:"a",tool:"b"}]}' },
])("$name are put right", ({ text }) => {
  expect(readAnswer(text)).toEqual({
    ok: true,
    value: { steps: [{ id: "a", tool: "b" }] },
    isRepaired: true,
  });
});

test.each([
  { name: "an object without its end", text: TEXT.slice(0, -5) },
  { name: "an object cut inside a string", text: TEXT.slice(0, 30) },
  { name: "a fence without its end", text: `\`\`\`json\n${TEXT.slice(0, -2)}` },
  { name: "a whole answer that the provider calls cut", text: TEXT, finishReason: "length" },
  { name: "the same in other words", text: TEXT, finishReason: "max_tokens" },
])("$name is refused: closing it would invent a plan", ({ text, finishReason }) => {
  expect(readAnswer(text, { finishReason: finishReason ?? null })).toMatchObject({
    ok: false,
    reason: "truncated",
  });
});

test.each([
  { name: "nothing", text: "" },
  { name: "white space", text: " \n " },
  { name: "prose", text: "I cannot do that." },
  { name: "a number", text: "42" },
  { name: "more than 1 MiB", text: `"${"x".repeat(1_048_577)}"` },
])("$name is unreadable", ({ text }) => {
  expect(readAnswer(text)).toMatchObject({ ok: false, reason: "unreadable" });
});

test("a model that says what is missing has declined", () => {
  expect(readAnswer('{"steps":[],"missing":"the e-mail address"}')).toEqual({
    ok: false,
    reason: "declined",
    message: "the e-mail address",
  });
});

test("the longest of several objects is the plan", () => {
  expect(readAnswer(`{"note":1} ${TEXT}`)).toMatchObject({ ok: true, value: PLAN });
});

test("valid JSON is never touched by the repair", () => {
  expect(readAnswer('[["["]]')).toEqual({ ok: true, value: [["["]], isRepaired: false });
});
