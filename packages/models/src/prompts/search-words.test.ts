import { expect, test } from "vitest";
import { searchWords } from "./tool-index.ts";

test.each([
  ["createAuthor", "creating an author"],
  ["list_open-issues", "List the open issues"],
  ["scheduleMeetings", "scheduling a meeting"],
  ["cancelSubscription", "cancelled subscriptions"],
  ["getHTTPStatus", "get http status"],
  ["delete_category", "deletes categories"],
  ["planTrip", "planned trips"],
])("%s and %j have the same words", (name, text) => {
  expect(searchWords(name)).toEqual(searchWords(text));
});

test("words that do not distinguish tools are left out", () => {
  expect(searchWords("Could you please do this for me, with the customer's file?")).toEqual([
    "customer",
    "fil",
  ]);
});
