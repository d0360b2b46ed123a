import { expect, test } from "vitest";
import { holdsText, marked } from "./json-tree.tsx";

const VALUE = { author: { name: "Alice", tags: ["Red", 7, null, true] } };

test.each(["", "alice", "AUTHOR", "tag", "red", "7", "null", "tru"])(
  "%j is found in names and values",
  (text) => {
    expect(holdsText(VALUE, text)).toBe(true);
  },
);

test.each(["bob", "0", "1"])("%j is not found: positions in a list are not names", (text) => {
  expect(holdsText(VALUE, text)).toBe(false);
});

test("each occurrence of the searched text is marked, and no text is lost", () => {
  const pieces = marked("Anna banana", "AN");
  expect(pieces.filter(({ isFound }) => isFound).map(({ text }) => text)).toEqual(["An", "an", "an"]);
  expect(pieces.map(({ text }) => text).join("")).toBe("Anna banana");
  expect(marked("İstanbul", "s")).toEqual([{ text: "İstanbul", isFound: false }]);
});
