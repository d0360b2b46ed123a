import assert from "node:assert/strict";
import { readingText, readModelAnswer, saidMoments } from "@planwright/plan";

const here = { now: new Date("2026-10-24T10:00:00Z"), timezone: "Europe/Berlin" }; // the clocks go back in the night
const { moments } = saidMoments("Remind me tomorrow at 9, and list the orders of last week", here);
assert.deepEqual(
  moments.map(({ text, readings }) => [text, ...readings.map(readingText)]),
  [
    ["tomorrow at 9", "2026-10-25T09:00:00+01:00"],
    ["last week", "2026-10-12 to 2026-10-18"],
  ],
);

const properties = { when: { type: "string" }, channel: { type: "string" } };
const tools = [{ name: "remind", inputSchema: { type: "object", properties } }];
const context = { ...here, locale: "de-DE", facts: { channel: "C0424" } };
const read = (when: string) => {
  const answer = JSON.stringify([{ tool: "remind", arguments: { when, channel: "C0424" } }]);
  return readModelAnswer(answer, { tools, query: "Remind me tomorrow at 9", context });
};
assert(read("2026-10-25T08:00:00Z").ok);
const [wrong] = read("2026-10-25T09:00:00Z").diagnostics;
assert.deepEqual([wrong?.code, wrong?.suggestion], ["ARGUMENT_DATE", "2026-10-25T09:00:00+01:00"]);
