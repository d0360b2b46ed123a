import { expect, test } from "vitest";
import { ModelSettingsSchema } from "../src/calls/model-setting.ts";
import { shownUrl } from "../src/providers/checked-fetch.ts";

test.each([
  ["https://ann:secret@llm.example/v1?key=hidden#part", "https://llm.example/v1"],
  ["http://127.0.0.1:11434/", "http://127.0.0.1:11434"],
  ["no address", "the base URL"],
])("an error shows %s as %s", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test("a base URL with name and password is refused as a setting", () => {
  const { error } = ModelSettingsSchema.safeParse({
    COMPATIBLE_BASE_URL: "http://ann:secret@llm.example/v1",
  });
  expect(error?.issues[0]).toMatchObject({
    path: ["COMPATIBLE_BASE_URL"],
    message: expect.stringContaining("no name and password"),
  });
});
