import { expect, test } from "vitest";
import { deskPath, deskPlaceOf, toolPath, toolPlaceOf } from "./paths.ts";

test("an address of the desk names its request, and one of the catalogue its tool", () => {
  expect(deskPlaceOf(deskPath("req_1_a"))).toBe("req_1_a");
  expect(deskPlaceOf(deskPath())).toBeNull();
  expect(toolPlaceOf(toolPath("server/tool %"))).toBe("server/tool %");
  expect(toolPlaceOf("/tools/")).toBeNull();
});

test.each(["/", "/desk/%E0%A4%A", "/tools/%E0%A4%A", "/deskx", "/toolsx", "/r/req_1_a"])(
  "%s is an address of neither the desk nor the catalogue",
  (path) => {
    expect([deskPlaceOf(path), toolPlaceOf(path)]).toEqual([undefined, undefined]);
  },
);
