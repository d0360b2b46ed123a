/** A call of a task; arguments may refer to earlier calls as `<<id.field>>`. */
export interface TaskCall {
  id: string;
  tool: string;
  arguments: Readonly<Record<string, string>>;
}

/** A request, its calls, and the answer of a model to the user. */
export interface Task {
  name: string;
  group: "one call" | "two calls" | "chain" | "parallel, 5" | "parallel, 8" | "mixed" | "n found items";
  query: string;
  calls: readonly TaskCall[];
  /** Steps of the plan, when they differ from the calls: one forEach step makes many calls. */
  plan?: readonly (TaskCall & { forEach?: string })[];
  answer: string;
}

const call = (id: string, tool: string, args: TaskCall["arguments"]): TaskCall => ({
  id,
  tool,
  arguments: args,
});
const CITIES = ["Oslo", "Lisbon", "Vienna", "Dublin", "Prague", "Athens", "Warsaw", "Bern"];
const PRODUCTS = ["Desk lamp", "Office chair", "Standing desk", "Monitor arm"];
/** Ids as the planner makes them: the tool's name, with a number from the second use on. */
const nth = (tool: string, index: number) => (index === 0 ? tool : `${tool}${index + 1}`);
const weather = (city: string, index: number) => call(nth("get_weather", index), "get_weather", { city });
const about = (tool: "get_stock" | "get_price") => (product: string, index: number) =>
  call(nth(tool, index), tool, { product });
const conditionsOf = (cities: readonly string[]) =>
  cities.map((city, index) => `${city}: <<${nth("get_weather", index)}.conditions>>`).join(", ");

const CHAIN = [
  call("find_customer", "find_customer", { email: "mara.jansen@mail.test" }),
  call("get_latest_order", "get_latest_order", { customer_id: "<<find_customer.customer_id>>" }),
  call("get_shipment", "get_shipment", { order_id: "<<get_latest_order.order_id>>" }),
  call("get_depot", "get_depot", { depot_id: "<<get_shipment.depot_id>>" }),
  call("get_weather", "get_weather", { city: "<<get_depot.city>>" }),
];

/** One call finds items, and each item needs another call. */
function foundItems(count: number): Task {
  const list = call("list_open_orders", "list_open_orders", { count: String(count) });
  const shipmentOf = (index: number) => `<<list_open_orders.orders[${index}].order_id>>`;
  const all = Array.from({ length: count }, (_, index) => index);
  return {
    name: `${count} found items`,
    group: "n found items",
    query: `List the ${count} latest open orders and get the shipment of each`,
    calls: [
      list,
      ...all.map((index) =>
        call(nth("get_shipment", index), "get_shipment", { order_id: shipmentOf(index) }),
      ),
    ],
    plan: [
      list,
      {
        ...call("get_shipment", "get_shipment", { order_id: "<<item.order_id>>" }),
        forEach: "<<list_open_orders.orders>>",
      },
    ],
    answer: `${count} orders are open: ${all.map((index) => `order ${index + 1} is with Nordfracht`).join(", ")}.`,
  };
}

/** The tasks. All contenders make the same calls; the order and the concurrency depend on how they work. */
export const TASKS: readonly Task[] = [
  {
    name: "one",
    group: "one call",
    query: "What is the weather in Oslo?",
    calls: [call("get_weather", "get_weather", { city: "Oslo" })],
    answer: "In Oslo there is light rain at 12 °C, with wind at 14 km/h.",
  },
  {
    name: "two at once",
    group: "two calls",
    query: "Get the weather in Oslo and the price of the Desk lamp",
    calls: [weather("Oslo", 0), call("get_price", "get_price", { product: "Desk lamp" })],
    answer: "In Oslo there is light rain at 12 °C. The desk lamp costs 89 EUR.",
  },
  {
    name: "two in a row",
    group: "two calls",
    query: "Find the customer mara.jansen@mail.test and get their latest order",
    calls: CHAIN.slice(0, 2),
    answer: "Mara Jansen of Utrecht last ordered a desk lamp for 89.50 EUR.",
  },
  {
    name: "chain of 5",
    group: "chain",
    query:
      "Find the customer mara.jansen@mail.test, get their latest order, find its shipment, see in which depot it is, and tell me the weather there",
    calls: CHAIN,
    answer:
      "The desk lamp of Mara Jansen is with Nordfracht in Hamburg, where there are broken clouds at 14 °C.",
  },
  {
    name: "chain of 10",
    group: "chain",
    query:
      "Find the customer mara.jansen@mail.test, get their latest order, find its shipment, see in which depot it is, and get the weather there; get the price of the ordered product, convert it to USD, search the documents for that product, summarize what you find and translate the summary into Dutch",
    calls: [
      ...CHAIN,
      call("get_price", "get_price", { product: "<<get_latest_order.product>>" }),
      call("convert_currency", "convert_currency", {
        amount: "<<get_price.amount>>",
        from: "<<get_price.currency>>",
        to: "USD",
      }),
      call("search_documents", "search_documents", { query: "<<get_latest_order.product>>" }),
      call("summarize_text", "summarize_text", { text: "<<search_documents.excerpt>>" }),
      call("translate_text", "translate_text", { text: "<<summarize_text.summary>>", language: "Dutch" }),
    ],
    answer:
      "The desk lamp of Mara Jansen is with Nordfracht in Hamburg, where there are broken clouds at 14 °C. It costs 97.90 USD. The handbook says in Dutch: alles wat de bureaulamp betreft, wordt beslist door het team dat het bezit.",
  },
  {
    name: "5 at once",
    group: "parallel, 5",
    query: `Get the weather for ${CITIES.slice(0, 5).join(", ")}`,
    calls: CITIES.slice(0, 5).map(weather),
    answer:
      "Oslo: light rain, 12 °C. Lisbon: clear sky, 21 °C. Vienna: broken clouds, 16 °C. Dublin: light rain, 11 °C. Prague: clear sky, 15 °C.",
  },
  {
    name: "8 at once",
    group: "parallel, 8",
    query: `Get the weather for ${CITIES.join(", ")}`,
    calls: CITIES.map(weather),
    answer:
      "Oslo: light rain, 12 °C. Lisbon: clear sky, 21 °C. Vienna: broken clouds, 16 °C. Dublin: light rain, 11 °C. Prague: clear sky, 15 °C. Athens: clear sky, 24 °C. Warsaw: broken clouds, 13 °C. Bern: light rain, 10 °C.",
  },
  {
    name: "8 at once, two kinds",
    group: "parallel, 8",
    query: `Get the stock and the price of ${PRODUCTS.join(", ")}`,
    calls: [...PRODUCTS.map(about("get_stock")), ...PRODUCTS.map(about("get_price"))],
    answer:
      "Desk lamp: 120 units at 89 EUR. Office chair: 14 units at 179 EUR. Standing desk: 33 units at 199 EUR. Monitor arm: 250 units at 45 EUR.",
  },
  {
    name: "mixed, 5",
    group: "mixed",
    query: "Get the weather in Oslo, Lisbon and Vienna, summarize it and translate the summary into German",
    calls: [
      ...CITIES.slice(0, 3).map(weather),
      call("summarize_text", "summarize_text", {
        text: conditionsOf(CITIES.slice(0, 3)),
      }),
      call("translate_text", "translate_text", { text: "<<summarize_text.summary>>", language: "German" }),
    ],
    answer: "Kurz gesagt: leichter Regen in Oslo, klarer Himmel in Lissabon, aufgelockerte Wolken in Wien.",
  },
  {
    name: "mixed, 10",
    group: "mixed",
    query: `Get the weather for ${CITIES.join(", ")}, summarize it and translate the summary into German`,
    calls: [
      ...CITIES.map(weather),
      call("summarize_text", "summarize_text", {
        text: conditionsOf(CITIES),
      }),
      call("translate_text", "translate_text", { text: "<<summarize_text.summary>>", language: "German" }),
    ],
    answer:
      "Kurz gesagt: leichter Regen in Oslo, Dublin und Bern, klarer Himmel in Lissabon, Prag und Athen, aufgelockerte Wolken in Wien und Warschau.",
  },
  ...[3, 8, 20].map(foundItems),
];
