// The types of the tools that plans may use; npm run types writes this file again, from the running system.
import { planDefiner } from "@planwright/client";

/** The tools that plans may use. */
export interface Tools {
  findProducts: { arguments: { text: string }; output: { products: string[] } };
  placeOrder: { arguments: { product: string; quantity: number }; output: { orderId: string } };
}

/** Returns a plan unchanged. A wrong tool, argument or reference does not compile. */
export const definePlan = planDefiner<Tools>();
