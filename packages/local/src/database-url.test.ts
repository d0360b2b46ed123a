import { expect, test } from "vitest";
import { withDatabase } from "./start-stack.ts";

test.each([
  ["mongodb://127.0.0.1:27017", "mongodb://127.0.0.1:27017/demo"],
  ["mongodb://127.0.0.1:27017/other?replicaSet=rs0", "mongodb://127.0.0.1:27017/demo?replicaSet=rs0"],
  ["mongodb://ann:secret@db", "mongodb://ann:secret@db/demo?authSource=admin"],
  ["mongodb+srv://ann:secret@db/users?w=1", "mongodb+srv://ann:secret@db/demo?w=1&authSource=users"],
  ["mongodb://ann:secret@db/users?authSource=x", "mongodb://ann:secret@db/demo?authSource=x"],
])("%s with the database demo is %s", (url, expected) => {
  expect(withDatabase(url, "demo")).toBe(expected);
});
