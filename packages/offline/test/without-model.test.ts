import type { ReplanRequest } from "@planwright/models";
import { expect, test } from "vitest";
import { BLOG } from "../../models/test/catalogues/blog.ts";
import { createOfflineDrafter } from "../src/index.ts";

const { signal } = new AbortController();
const replan: ReplanRequest = {
  steps: [
    {
      id: "s",
      tool: "listAuthors",
      call: {},
      isList: false,
      status: "failed",
      error: { code: "TOOL_FAILED", message: "m" },
    },
  ],
  note: null,
};

test("there is no direct path without a model", () => {
  expect(createOfflineDrafter().draftDirectly).toBeUndefined();
});

test("without a model replans and answers are refused, and the message names the alternative", async () => {
  const drafter = createOfflineDrafter();
  await expect(drafter.draft({ query: "q", tools: BLOG, replan, signal })).rejects.toMatchObject({
    code: "MODEL_REQUIRED",
    message: expect.stringContaining("rerun"),
  });
  await expect(drafter.answer({ query: "q", results: [], signal })).rejects.toMatchObject({
    code: "MODEL_REQUIRED",
    message: expect.stringContaining("MODEL"),
  });
});
