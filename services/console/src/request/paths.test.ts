import { expect, test } from "vitest";
import { placeOf, requestPath } from "./paths.ts";

test.each([
  { requestId: "req_1_a", version: null, stepId: null },
  { requestId: "req_1_a", version: 3, stepId: null },
  { requestId: "req_1_a", version: null, stepId: "createBlog" },
  { requestId: "req_1_a", version: 2, stepId: "a b/c" },
])("an address names %j, and is read back as it", (place) => {
  expect(placeOf(requestPath({ ...place, view: "graph" }))).toEqual(place);
});

test.each(["/", "/r/", "/r/%E0%A4%A", "/x/req_1"])("%s names no request", (path) => {
  expect(placeOf(path)).toBeNull();
});
