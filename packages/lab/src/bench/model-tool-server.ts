/** The tools of the benchmark as an MCP server over stdio. `LATENCY_MS` is the duration of each call. */
import { setTimeout as wait } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JsonValue } from "@planwright/plan";
import { z } from "zod";

/**
 * A tool of the benchmark. All arguments and all fields of its output are texts, or lists of objects whose
 * fields are texts.
 */
interface BenchTool {
  name: string;
  description: string;
  /** Descriptions of the arguments; all are required. */
  input: Readonly<Record<string, string>>;
  /** Descriptions of the output's fields; for a list, of the fields of each object. */
  output: Readonly<Record<string, string | { each: Readonly<Record<string, string>> }>>;
  /** The same arguments give the same output. */
  answer: (given: Readonly<Record<string, string>>) => Record<string, JsonValue>;
}

/** A small office: customers, orders, shipments, stock, weather, and actions on them. */
const BENCH_TOOLS: readonly BenchTool[] = [
  {
    name: "find_customer",
    description: "Finds a customer by e-mail address.",
    input: { email: "E-mail address of the customer" },
    output: { customer_id: "Id of the customer", name: "Full name", city: "Where the customer lives" },
    answer: ({ email = "" }) => ({ customer_id: `cus_${hash(email)}`, name: nameIn(email), city: "Utrecht" }),
  },
  {
    name: "get_latest_order",
    description: "Returns the latest order of a customer.",
    input: { customer_id: "Id of the customer" },
    output: { order_id: "Id of the order", product: "Name of the product", total: "Total with currency" },
    answer: ({ customer_id = "" }) => ({
      order_id: `ord_${hash(customer_id)}`,
      product: "Desk lamp",
      total: "89.50 EUR",
    }),
  },
  {
    name: "list_open_orders",
    description: "Lists open orders, the latest first.",
    input: { count: "How many orders at most, in digits" },
    output: { orders: { each: { order_id: "Id of the order", product: "Name of the product" } } },
    answer: ({ count = "" }) => ({
      orders: Array.from({ length: Number(count) }, (_, index) => ({
        order_id: `ord_${hash(String(index))}`,
        product: "Desk lamp",
      })),
    }),
  },
  {
    name: "get_shipment",
    description: "Returns the shipment of an order with the depot where it is now.",
    input: { order_id: "Id of the order" },
    output: {
      shipment_id: "Id of the shipment",
      carrier: "Name of the carrier",
      depot_id: "Id of the depot",
    },
    answer: ({ order_id = "" }) => ({
      shipment_id: `shp_${hash(order_id)}`,
      carrier: "Nordfracht",
      depot_id: `dep_${hash(order_id)}`,
    }),
  },
  {
    name: "get_depot",
    description: "Returns where a depot of a carrier stands and when it is open.",
    input: { depot_id: "Id of the depot" },
    output: { city: "City of the depot", address: "Street and number", opening_hours: "Opening hours" },
    answer: () => ({ city: "Hamburg", address: "Am Sandtorkai 12", opening_hours: "Mon-Fri 07:00-19:00" }),
  },
  {
    name: "get_weather",
    description: "Returns the current weather in a city.",
    input: { city: "Name of the city" },
    output: {
      city: "Name of the city",
      conditions: "Conditions in words",
      temperature: "Temperature with unit",
      wind: "Wind speed with unit",
      humidity: "Relative humidity in percent",
    },
    answer: ({ city = "" }) => ({
      city,
      conditions: ["light rain", "clear sky", "broken clouds"][Number.parseInt(hash(city), 16) % 3] ?? "",
      temperature: `${10 + (Number.parseInt(hash(city), 16) % 15)} °C`,
      wind: "14 km/h",
      humidity: "71 %",
    }),
  },
  {
    name: "get_forecast",
    description: "Returns the weather forecast of a city for a day.",
    input: { city: "Name of the city", date: "Day as YYYY-MM-DD" },
    output: { conditions: "Conditions in words", low: "Lowest temperature", high: "Highest temperature" },
    answer: () => ({ conditions: "sunny intervals", low: "9 °C", high: "17 °C" }),
  },
  {
    name: "get_stock",
    description: "Returns how many units of a product are in stock, and in which warehouse.",
    input: { product: "Name of the product" },
    output: { units: "Units in stock", warehouse: "Name of the warehouse" },
    answer: ({ product = "" }) => ({
      units: String(Number.parseInt(hash(product), 16) % 400),
      warehouse: "Rotterdam 2",
    }),
  },
  {
    name: "get_price",
    description: "Returns the list price of a product.",
    input: { product: "Name of the product" },
    output: { amount: "Price", currency: "Currency as a code of three letters" },
    answer: ({ product = "" }) => ({
      amount: `${20 + (Number.parseInt(hash(product), 16) % 180)}.00`,
      currency: "EUR",
    }),
  },
  {
    name: "convert_currency",
    description: "Converts an amount of money at today's rate.",
    input: { amount: "Amount to convert", from: "Currency of the amount", to: "Wanted currency" },
    output: { amount: "Converted amount", rate: "Rate that was used" },
    answer: ({ amount = "" }) => ({ amount: `${(Number(amount) * 1.1).toFixed(2)}`, rate: "1.10" }),
  },
  {
    name: "summarize_text",
    description: "Summarizes a text in one sentence.",
    input: { text: "Text to summarize" },
    output: { summary: "The summary" },
    answer: ({ text = "" }) => ({ summary: `In short: ${text.slice(0, 120)}` }),
  },
  {
    name: "translate_text",
    description: "Translates a text into another language.",
    input: { text: "Text to translate", language: "Language to translate into" },
    output: { translation: "The translated text" },
    answer: ({ text = "" }) => ({ translation: text }),
  },
  {
    name: "search_documents",
    description: "Searches the documents of the company by words and returns the best one.",
    input: { query: "Words to search for" },
    output: {
      title: "Title of the document",
      excerpt: "The passage that fits best",
      url: "Address of the document",
    },
    answer: ({ query = "" }) => ({
      title: `Handbook: ${query}`,
      excerpt: `All that concerns ${query} is decided by the team that owns it.`,
      url: `https://docs.office.test/${hash(query)}`,
    }),
  },
];

/** A short fixed number for a text, as hexadecimal (FNV-1a). */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}

const nameIn = (email: string) =>
  (email.split("@")[0] ?? "")
    .split(".")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join(" ");

const latencyMs = z.coerce.number().int().min(0).parse(process.env["LATENCY_MS"]);
const text = (descriptions: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(descriptions).map(([name, words]) => [name, z.string().describe(words)]));
const fields = (descriptions: BenchTool["output"]) =>
  Object.fromEntries(
    Object.entries(descriptions).map(([name, words]) => [
      name,
      typeof words === "string" ? z.string().describe(words) : z.array(z.object(text(words.each))),
    ]),
  );

function createServer(): McpServer {
  const server = new McpServer(
    { name: "bench-tools", version: "0.1.0" },
    { capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, description, input, output, answer } of BENCH_TOOLS) {
    server.registerTool(
      name,
      {
        description,
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
        inputSchema: z.object(text(input)),
        outputSchema: z.object(fields(output)),
      },
      async (given) => {
        await wait(latencyMs);
        const structuredContent = answer(z.record(z.string(), z.string()).parse(given));
        return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
      },
    );
  }
  return server;
}

serveStdio(createServer);
