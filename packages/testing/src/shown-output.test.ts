import { expect, test } from "vitest";
import { linesNotPrinted } from "./readme-blocks.ts";

const PRINTED = `Ready after 3.1 s.
Request:   req_1795459882_57pidfc5px7b4iez7dt5
\u001b[32mCOMPLETED\u001b[0m in 189 ms
output {"_id":"6b048b2a2b88a47e99bcd2b1","name":"Alice","createdAt":"2026-11-23T18:51:22.961Z"}
`;

test.each([
  ["ids and durations differ", "Request:   req_1700000000_abcdefghijklmnopqrst\nCOMPLETED in 1.2 s"],
  ["an id is left out", "Request:   req_…"],
  ["a value is cut", 'output {"_id":"000000000000000000000000","name":"Alice",…}'],
  ["lines are left out", "Ready after 9 ms.\nCOMPLETED in 1 ms"],
])("a shown output matches the real one when %s", (_, shown) => {
  expect(linesNotPrinted(shown, PRINTED)).toEqual([]);
});

test.each([
  ["has another word", "FAILED in 1 ms"],
  ["has another value", 'output {"_id":"000000000000000000000000","name":"Bob",…}'],
  ["is in another position", "COMPLETED in 1 ms\nReady after 1 s."],
])("a line that %s is returned", (_, shown) => {
  expect(linesNotPrinted(shown, PRINTED)).toHaveLength(1);
});
