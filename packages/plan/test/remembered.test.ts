import { expect, test } from "vitest";
import { fingerprintOf, pinTools } from "../src/contract/pin-tools.ts";
import { knownContract, toolContract } from "../src/contract/tool-contract.ts";
import {
  createToolIndex,
  remembered,
  type ToolDescriptor,
  toolIndexOf,
} from "../src/tools/tool-descriptor.ts";

test("a result is computed once for each object, even for equal objects", () => {
  const asked: unknown[] = [];
  const of = remembered((subject: { a: number }) => {
    asked.push(subject);
    return { answer: subject.a };
  });
  const [one, other] = [{ a: 1 }, { a: 1 }];
  expect(of(one)).toBe(of(one));
  expect(of(other)).not.toBe(of(one));
  expect(asked).toEqual([one, other]);
});

test("after an exception the result is computed again", () => {
  let isBroken = true;
  const of = remembered((subject: object) => {
    if (isBroken) throw new TypeError("broken");
    return [subject];
  });
  const subject = {};
  expect(() => of(subject)).toThrow("broken");
  isBroken = false;
  expect(of(subject)).toEqual([subject]);
});

const tools: ToolDescriptor[] = [
  { name: "read", server: "x", annotations: { readOnlyHint: true } },
  {
    name: "write",
    server: "x",
    trusted: true,
    "x-orchestration": { lookup: { tool: "read", arguments: {} }, barrier: true },
  },
];

test.each(["sequential", "parallel"] as const)(
  "known contracts are cached separately for %s",
  (unannotated) => {
    for (const tool of tools) {
      expect(knownContract(tool, unannotated)).toEqual(toolContract(tool, { unannotated }));
      expect(knownContract(tool, unannotated)).toBe(knownContract(tool, unannotated));
    }
  },
);

test("pins are the same for an indexed and a new catalogue", () => {
  const plan = { steps: [{ id: "a", tool: "write", arguments: {}, dependsOn: [] }] };
  const [first] = pinTools(plan, tools);
  expect(pinTools(plan, tools)).toEqual([first]);
  expect(pinTools(plan, structuredClone(tools))).toEqual([first]);
  expect(first).toMatchObject(fingerprintOf(tools[1] as ToolDescriptor));
  expect(first).toMatchObject({ lookup: fingerprintOf(tools[0] as ToolDescriptor), barrier: true });
});

test("an array has one index", () => {
  expect(toolIndexOf(tools)).toBe(toolIndexOf(tools));
  expect(toolIndexOf([...tools])).not.toBe(toolIndexOf(tools));
  expect(toolIndexOf(tools).find("write")).toBe(createToolIndex(tools).find("write"));
});
