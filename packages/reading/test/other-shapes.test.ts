import { type ToolDescriptor } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect, test } from "vitest";

const tools: ToolDescriptor[] = [{ name: "f" }, { name: "createAuthor" }];
const codesOf = (answer: string) =>
  readModelAnswer(answer, { tools, query: "create author Al" }).diagnostics.map(({ code }) => code);

test.each<[string, string]>([
  ["data with a field called question", '[{"process_data":{"question":"How many?"}}]'],
  ["data with a field called question, without a list", '{"process_data":{"question":"How many?"}}'],
  ["data with a field called message", '{"customer":{"message":"hello","name":"Al"}}'],
  ["an error without content", '{"error":"null"}'],
  ["an error without content, deep inside", '[{"result":{"error":"null"}}]'],
  ["an error that is null", '[{"error":null}]'],
  ["a call of another notation with an empty list", "[f(x=[])]"],
  ["a call of another notation with a list", "[f(x=[1])]"],
  ["two empty lists in a call", "f(x=[], y=[])"],
  ["another object", '{"answer":42}'],
])("JSON of another shape is said to be that: %s", (_, answer) => {
  expect(codesOf(answer)).toEqual(["PLAN_SHAPE"]);
});

test.each<[string, string, string]>([
  ["an empty list", "[]", "PLAN_EMPTY"],
  ["no steps, and an error without content", '{"steps":[],"error":"null"}', "PLAN_EMPTY"],
  ["no steps, and nothing missing", '{"steps":[],"missing":"n/a"}', "PLAN_EMPTY"],
  ["a question", '{"question":"Which Al?"}', "ANSWER_ASKS"],
  ["a question in a wrapper", '{"response":{"question":"Which Al?"}}', "ANSWER_ASKS"],
  [
    "a question in a wrapper that is named so",
    '{"clarification_needed":{"question":"Which?"}}',
    "ANSWER_ASKS",
  ],
  ["a reason", '{"error":"no tool can do it"}', "ANSWER_DECLINED"],
  ["a reason in a list", '[{"error":"no tool can do it"}]', "ANSWER_DECLINED"],
])("what a model says instead of a plan stays that: %s", (_, answer, code) => {
  expect(codesOf(answer)).toEqual([code]);
});
