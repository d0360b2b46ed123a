import assert from "node:assert/strict";
import { evaluateCondition } from "@planwright/plan";

const known = {
  outputs: { stock: { left: 3, tags: ["new"] } },
  statuses: { stock: "COMPLETED", mail: "FAILED" },
};
assert(
  evaluateCondition({ all: [{ gt: ["<<stock.left>>", 0] }, { contains: ["<<stock.tags>>", "new"] }] }, known),
);
assert(
  evaluateCondition(
    { any: [{ status: ["mail", "COMPLETED"] }, { not: { exists: "<<stock.price>>" } }] },
    known,
  ),
);
assert.throws(() => evaluateCondition({ lt: ["<<stock.left>>", "5"] }, known), { code: "CONDITION_INVALID" });
