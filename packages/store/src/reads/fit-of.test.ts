import type { RequestStatus } from "@planwright/plan";
import { expect, test } from "vitest";
import type { VersionHead } from "../records/document-heads.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { RequestFilter } from "./list-requests.ts";
import { type Fit, fitOf } from "./list-requests.ts";

const requestId = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const createdAt = new Date(1_700_000_000_000);

function requestOf(given: Partial<RequestDocument>): RequestDocument {
  const known = { _id: requestId, status: "EXECUTING", query: "Create Élodie", error: null, createdAt };
  // No other field of a request is read.
  return { ...known, ...given } as RequestDocument;
}

const version = (facts: Partial<VersionHead>): VersionHead => ({
  requestId,
  tools: ["read"],
  errorCode: null,
  needs: [],
  ...facts,
});

test.each<[RequestFilter, { status?: RequestStatus; versions?: VersionHead[] }, Fit]>([
  [{}, {}, "fits"],
  [{ status: ["EXECUTING", "READY"] }, {}, "fits"],
  [{ status: ["EXECUTING"] }, { status: "COMPLETED" }, "left"],
  [{ text: "éLODIE" }, {}, "fits"],
  [{ text: "bob", status: ["EXECUTING"] }, { status: "COMPLETED" }, "never"],
  [{ tag: "nightly" }, {}, "never"],
  [{ createdFrom: createdAt }, {}, "fits"],
  [{ createdBefore: createdAt }, {}, "never"],
  [{ needs: "answer" }, { status: "NEEDS_INPUT" }, "fits"],
  [{ needs: "answer" }, {}, "left"],
  [{ needs: "approval" }, { versions: [version({ needs: ["approval"] })] }, "fits"],
  [{ needs: "approval" }, { versions: [version({})] }, "left"],
  [{ needs: "sign-in" }, { versions: [version({ needs: ["sign-in"] })] }, "fits"],
  [{ tool: "write" }, { versions: [version({})] }, "never"],
  [{ tool: "read", errorCode: "X" }, { versions: [version({})] }, "left"],
  // One version uses the tool, another one failed.
  [
    { tool: "read", errorCode: "X" },
    { versions: [version({}), version({ tools: ["write"], errorCode: "X" })] },
    "left",
  ],
])("filter %j, request %j: %s", (filter, { versions = [], ...given }, fit) => {
  expect(fitOf(filter, requestOf(given), versions)).toBe(fit);
});
