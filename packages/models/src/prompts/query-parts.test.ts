import { expect, test } from "vitest";
import { queryParts } from "./retrieve-tools.ts";

test("each requested action is a separate part", () => {
  const query =
    "Create author Alice with email a@x.test, then create a blog and send 2.5 coins. Finally list all.";
  expect(queryParts(query)).toEqual([
    "Create author Alice with email a@x.test",
    "create a blog",
    "send 2.5 coins",
    "list all",
  ]);
});

test("text in quotes is a value, not a part", () => {
  expect(queryParts(`Post a comment saying "delete all invoices, then resign"`)).toEqual([
    "Post a comment saying",
  ]);
  expect(queryParts("Don't close the customer's ticket")).toEqual(["Don't close the customer's ticket"]);
});

test("a query that is completely in quotes is read", () => {
  expect(queryParts(`"weather for Oslo"`)).toEqual([`"weather for Oslo"`]);
});
