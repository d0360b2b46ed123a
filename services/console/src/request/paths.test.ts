import { expect, test } from "vitest";
import { placeOf, type RequestPlace, requestPath, shownAs } from "./paths.ts";

const FIRST: RequestPlace = { requestId: "req_1_a", version: null, stepId: null, view: null, at: null };

test.each<RequestPlace>([
  FIRST,
  { ...FIRST, version: 3 },
  { ...FIRST, stepId: "createBlog", view: "timeline" },
  { ...FIRST, version: 2, stepId: "a b/c", view: "model calls", at: 0 },
  { ...FIRST, at: 12 },
])("the address of %j is read back as the same place", (place) => {
  const [path = "", search = ""] = requestPath(place).split("?");
  expect({ ...placeOf(path), ...shownAs(search) }).toEqual(place);
});

test.each(["/", "/r/", "/r/%E0%A4%A", "/x/req_1"])("%s names no request", (path) => {
  expect(placeOf(path)).toBeNull();
});

test.each(["at=-1", "at=now", "view=nothing&at=1.5"])("%s means the graph, and now", (search) => {
  expect(shownAs(search)).toEqual({ view: null, at: null });
});
