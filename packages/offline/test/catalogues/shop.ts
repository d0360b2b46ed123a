import { tool } from "../../../models/test/catalogues/tool.ts";

/** A shop: numbers, a verb that stands alone, things placed into other things. */
export const SHOP = [
  tool(
    "createCustomer",
    "Creates a customer.",
    { name: "string", email: { type: "string", format: "email" } },
    ["customer_id", "name"],
  ),
  tool(
    "createProduct",
    "Creates a product.",
    { name: "string", price: "number", "stock?": "integer", "active?": "boolean" },
    ["id", "name", "price"],
  ),
  tool(
    "updateProduct",
    "Changes a product.",
    { productId: "string", "price?": "number", "stock?": "integer" },
    ["id"],
  ),
  tool("searchProducts", "Searches the products.", { query: "string", "maxPrice?": "number" }, ["products"]),
  tool("createOrder", "Creates an order for a customer.", { customerId: "string", "note?": "string" }, [
    "id",
    "total",
  ]),
  tool(
    "addOrderItem",
    "Adds a product to an order.",
    { orderId: "string", productId: "string", quantity: "integer" },
    ["id"],
  ),
  tool("cancelOrder", "Cancels an order.", { orderId: "string", "reason?": "string" }, ["id"]),
  tool("checkout", "Pays for an order.", { orderId: "string" }, ["receiptId"]),
];
