import { expect, test } from "vitest";
import { matching, type PaletteCommand } from "./palette.tsx";

const COMMANDS: PaletteCommand[] = [
  { id: "desk", label: "Plan desk", group: "Pages", run: () => "desk" },
  { id: "cancel", label: "Cancel", group: "This request", run: () => "cancel" },
];
const ACTIONS = { openRequest: (id: string) => `open ${id}`, search: (text: string) => `search ${text}` };
const labelsOf = (typed: string) => matching(COMMANDS, typed, ACTIONS).map(({ label }) => label);

test("all commands are listed before anything is typed", () => {
  expect(labelsOf(" ")).toEqual(["Plan desk", "Cancel"]);
});

test("each word must be in the label or the group, in any case; a search comes last", () => {
  expect(labelsOf("REQUEST can")).toEqual(["Cancel", "Find requests with “REQUEST can”"]);
  expect(labelsOf("nothing of that")).toEqual(["Find requests with “nothing of that”"]);
});

test("for a request id the only command opens it", () => {
  const id = "req_1700000000_abcdefghijklmnopqrst";
  const found = matching(COMMANDS, ` ${id}\n`, ACTIONS);
  expect(found.map(({ run }) => run())).toEqual([`open ${id}`]);
});
