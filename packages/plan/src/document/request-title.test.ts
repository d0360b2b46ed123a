import { expect, test } from "vitest";
import { requestTitle } from "./planning-advice.ts";

test.each([
  ["Reserve a pen", ["searchItems"], "Reserve a pen"],
  [null, ["searchItems", "reserveStock"], "searchItems → reserveStock"],
  [null, ["add", "add", "add", "sum", "add"], "add → sum → add"],
  [null, ["a", "b", "c", "d"], "a → b → c → d"],
  [null, ["a", "b", "c", "d", "e"], "a → b → c → d → …"],
  [null, [], "a plan that is not valid"],
])("a request with the sentence %j and the tools %j is named %j", (query, tools, title) => {
  expect(requestTitle(query, tools)).toBe(title);
});
