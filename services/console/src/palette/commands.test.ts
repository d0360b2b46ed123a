import { expect, test } from "vitest";
import { type Command, matching } from "./commands.ts";

const COMMANDS: Command[] = [
  { id: "desk", label: "Plan desk", group: "Pages", run: () => "desk" },
  { id: "cancel", label: "Cancel", group: "This request", run: () => "cancel" },
];
const WAYS = { openRequest: (id: string) => `open ${id}`, search: (text: string) => `search ${text}` };
const labelsOf = (typed: string) => matching(COMMANDS, typed, WAYS).map(({ label }) => label);

test("all commands are offered before anything is typed", () => {
  expect(labelsOf(" ")).toEqual(["Plan desk", "Cancel"]);
});

test("each word must stand in the label or the group, in any case; a search comes last", () => {
  expect(labelsOf("REQUEST can")).toEqual(["Cancel", "Find requests with “REQUEST can”"]);
  expect(labelsOf("nothing of that")).toEqual(["Find requests with “nothing of that”"]);
});

test("a request id is opened, and nothing else is offered", () => {
  const id = "req_1700000000_abcdefghijklmnopqrst";
  const found = matching(COMMANDS, ` ${id}\n`, WAYS);
  expect(found.map(({ run }) => run())).toEqual([`open ${id}`]);
});
