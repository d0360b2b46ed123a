import { definePlan } from "./planwright-tools.js";

/** Orders two of the first product with "lamp" in its name. */
export const plan = definePlan({
  steps: [
    { id: "find", tool: "findProducts", arguments: { text: "lamp" } },
    { id: "order", tool: "placeOrder", arguments: { product: "<<find.products.0>>", quantity: 2 } },
  ],
  outputs: ["order"],
});
