import { expect, test } from "vitest";
import { partialDocument } from "./draft-steps.ts";

const ANSWER = `Here is the plan:
\`\`\`json
{"steps": [
  {"id": "find", "tool": "findUser", "arguments": {"name": "Al \\"Ice\\""}},
  {"id": "mail", "tool": "sendMail", "arguments": {"to": "<<find.email>>"}, "dependsOn": ["find"]}
]}
\`\`\`
`;
const idsOf = (answer: string) => partialDocument(answer).steps.map(({ id }) => id);

test.each([
  ["", []],
  ["Here is", []],
  ['{"ste', []],
  ['{"steps": [{"id": "fi', []],
  ['{"steps": [{"id": "find", "tool": "fi', []],
  ['{"steps": [{"id": "find", "tool": "findUser", "arguments": {"name": "Al', ["find"]],
  ['{"steps": [{"id": "find", "tool": "findUser"}, {"id": "ma', ["find"]],
  ['{"steps": [{"tool": "findUser"}, {"tool": "findUser", "arguments": {', ["findUser_1", "findUser_2"]],
  ['{"plan": {"steps": [{"id": "each", "forEach": {"items": [1], "do": {"tool": "x"', []],
  ['{"steps": [{"forEach": {"items": [1], "do": {"tool": "x", "arguments": {', ["x"]],
  ['[{"steps": [{"id": "find", "tool": "x", "arguments": {}}]}]', ["find"]],
  ['{"question": "Which user?"}', []],
])("of %j the steps %j can be read", (answer, ids) => {
  expect(idsOf(answer)).toEqual(ids);
});

test("each beginning of an answer has the steps of the shorter ones, and the whole answer has all", () => {
  let before: unknown[] = [];
  for (let length = 0; length <= ANSWER.length; length += 1) {
    const ids = idsOf(ANSWER.slice(0, length));
    expect(ids.slice(0, before.length)).toEqual(before);
    before = ids;
  }
  expect(before).toEqual(["find", "mail"]);
  expect(partialDocument(ANSWER).steps[1]).toMatchObject({ arguments: { to: "<<find.email>>" } });
});
