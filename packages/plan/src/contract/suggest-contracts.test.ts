import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../json/json.ts";
import type { ToolAnnotations, ToolDescriptor } from "../tools/tool-descriptor.ts";
import {
  type ContractProposal,
  type SuggestedField,
  suggestContracts,
  suggestedTools,
  type ToolToSuggest,
} from "./suggest-contracts.ts";

/** A tool in the way of real servers: parameters with "!" are required; of a list each is a value of `enum`. */
function toolOf(
  name: string,
  description: string,
  parameters: Record<string, string | string[] | JsonObject> = {},
  annotations?: ToolAnnotations,
): ToolDescriptor {
  const entries = Object.entries(parameters);
  const properties = entries.map(([parameter, kind]) => [
    parameter.replace("!", ""),
    typeof kind === "string" ? { type: kind } : Array.isArray(kind) ? { enum: kind } : kind,
  ]);
  return {
    name,
    server: "shop",
    description,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(properties),
      required: entries.flatMap(([parameter]) => (parameter.endsWith("!") ? [parameter.slice(0, -1)] : [])),
    },
    ...(annotations ? { annotations } : {}),
  };
}

const suggestedFor = (...tools: ToolDescriptor[]) =>
  suggestedTools(suggestContracts(tools.map((tool) => ({ tool }))));
const reads = { side_effects: false };
const readOnlyHint = { readOnlyHint: true };
const text = (description: string) => ({ type: "string", description });

test.each<[ToolDescriptor]>([
  [toolOf("search_repositories", "Search for repositories", { "query!": "string", page: "number" })],
  [toolOf("get_issue", "Get details of one issue of a repository", { "issue_number!": "number" })],
  [toolOf("list_commits", "Get the commits of a branch, newest first", { sha: "string" })],
  [toolOf("get_order", "Gets an order that was created before", { "orderId!": "string" })],
  [toolOf("getUserProfile", "Retrieves the profile of a user", { "userId!": "string" })],
  [toolOf("shop-list-customers", "  List customers with pagination", { state: ["open", "closed", "all"] })],
  [toolOf("web_search", "Searches the web for current information.", { "query!": "string" })],
  [toolOf("read_text_file", "Read the contents of a file as text", { "path!": "string", head: "number" })],
  [toolOf("describe_table", "Get detailed information about a table", {}, readOnlyHint)],
  [toolOf("count_documents", "Counts documents that match a filter", { "filter!": "object" })],
])("a tool whose name, description and parameters say that it reads is suggested as a read: %o", (tool) => {
  expect(suggestedFor(tool)).toEqual({ [tool.name]: reads });
});

test.each<[string, ToolDescriptor]>([
  ["the name continues with an effect", toolOf("get_or_create_label", "Get a label, or a new one", {})],
  ["the name continues with an effect", toolOf("search_and_replace", "Search for a text in files", {})],
  ["the name continues with an effect", toolOf("find_and_modify", "Find one document", {})],
  ["each call gives the next one", toolOf("get_next_job", "Get the job that waits longest", {})],
  ["the description acts", toolOf("read_inbox", "Read new mails and mark them as seen", {})],
  ["the description acts", toolOf("get_messages", "Get messages; each is removed from the queue", {})],
  ["the description acts", toolOf("get_invoice_number", "Returns a free number and reserves it", {})],
  ["the description acts", toolOf("get_report", "Get a report. Starts a job when there is none", {})],
  ["the description acts", toolOf("get_access_token", "Get a token: issues a new one each time", {})],
  ["the description acts", toolOf("get_diagram", "Generates a diagram", {})],
  ["the description does not read", toolOf("get_started", "Open the welcome page in a browser", {})],
  ["there is no description", toolOf("get_weather", "")],
  ["the description is in another language", toolOf("get_user", "Liest einen Benutzer und setzt ihn aktiv")],
  ["fetch may act", toolOf("git_fetch", "Get updates of a remote repository", {})],
  ["show may act", toolOf("show_message", "View a message to the user", {})],
  ["open may act", toolOf("open_ticket", "Get a ticket for a customer", {})],
  ["check may act", toolOf("check_in_guest", "Returns the room of a guest", { "guestId!": "string" })],
  ["take has no reading verb", toolOf("take_snapshot", "Get a snapshot of the page", {})],
  ["a verb without object", toolOf("saved_search", "Search for things", {})],
  ["a statement may write", toolOf("read_query", "Read rows with a SELECT", { "sql!": "string" })],
  [
    "a query in SQL may write",
    toolOf("search_rows", "Search rows with an SQL query", { "query!": "string" }),
  ],
  ["a query in Cypher may write", toolOf("search_graph", "Search", { query: text("A Cypher query") })],
  ["a pipeline may write", toolOf("list_totals", "List totals of a collection", { pipeline: "array" })],
  ["a command may do anything", toolOf("get_output", "Get the output", { "command!": "string" })],
  ["a method may be POST", toolOf("get_page", "Get a page", { url: "string", method: "string" })],
  ["an operation may set", toolOf("get_context", "Get contexts", { op: ["list", "get", "set"] })],
  ["a parameter acts", toolOf("get_mail", "Get a mail", { mark_as_read: "boolean" })],
  ["a parameter acts", toolOf("get_folder", "Get a folder", { createIfMissing: "boolean" })],
  ["a parameter acts", toolOf("get_page_text", "Get a page", { o: text("Also deletes the old copy") })],
  [
    "a parameter inside another one acts",
    toolOf("list_mails", "List", { o: { properties: { delete_after: {} } } }),
  ],
  ["a file is written", toolOf("get_image", "Get an image", { output_path: "string" })],
  ["an address is called", toolOf("list_events", "List events", { webhook_url: "string" })],
  ["a hint says that it writes", toolOf("get_x", "Get x", {}, { readOnlyHint: false })],
  ["a hint says that it destroys", toolOf("get_x", "Get x", {}, { destructiveHint: true })],
])("no read is suggested when %s: %o", (_why, tool) => {
  expect(suggestedFor(tool)).toEqual({});
});

test("a word that begins all names says nothing, unless it acts", () => {
  const named = (name: string) => toolOf(name, "Get the things of a user");
  expect(suggestedFor(named("acme_list_a"), named("acme_get_b"))).toEqual({
    acme_list_a: reads,
    acme_get_b: reads,
  });
  expect(suggestedFor(named("remove_list_a"), named("remove_get_b"))).toEqual({});
});

test.each<[ToolDescriptor]>([
  [toolOf("delete_label", "Get rid of a label", {}, readOnlyHint)],
  [toolOf("aggregate", "Run an aggregation", { "pipeline!": "array" }, readOnlyHint)],
  [
    toolOf(
      "kube_context",
      "List, get or set the context",
      { operation: ["list", "get", "set"] },
      readOnlyHint,
    ),
  ],
])(
  "an effect is suggested for a tool whose hint says read while its name or a parameter acts: %o",
  (tool) => {
    expect(suggestedFor(tool)).toEqual({ [tool.name]: { side_effects: true } });
  },
);

const idempotentHint = { readOnlyHint: false, idempotentHint: true };

test.each<[ToolDescriptor, object]>([
  [toolOf("write_file", "Write a file, or overwrite it", {}, idempotentHint), { idempotency: "natural" }],
  [toolOf("delete_entities", "Delete entities", {}, idempotentHint), { idempotency: "natural" }],
  [
    toolOf("create_directory", "Ensure that a directory exists", {}, idempotentHint),
    { idempotency: "natural" },
  ],
  [toolOf("set_price", "Sets a price. This call is idempotent."), { idempotency: "natural" }],
  [toolOf("pay", "Pays. Honours dev.planwright/idempotencyKey."), { idempotency: "key" }],
])("a repeat that changes nothing more is suggested where the server says so: %o", (tool, expected) => {
  expect(suggestedFor(tool)).toEqual({ [tool.name]: expected });
});

test.each<[string, ToolDescriptor]>([
  ["there is no word about it", toolOf("delete_entities", "Delete entities")],
  ["it is denied", toolOf("set_price", "Sets a price; not idempotent")],
  ["the hint denies it", toolOf("set_x", "Idempotent", {}, { idempotentHint: false })],
  ["it creates", toolOf("create_issue", "Create an issue", {}, idempotentHint)],
  ["it sends", toolOf("send_mail", "Send a mail. Idempotent.", {}, idempotentHint)],
  ["it appends", toolOf("write_note", "Appends a note to a file", {}, idempotentHint)],
  ["it may append", toolOf("write_file", "Write a file", { mode: ["rewrite", "append"] }, idempotentHint)],
])("no repeat is suggested when %s: %o", (_why, tool) => {
  expect(suggestedFor(tool)).toEqual({});
});

const send = toolOf("send_invoice", "Send an invoice", { "invoiceId!": "string", "amount!": "number" });
const find = (name: string, parameters: Record<string, string>, more: object = {}) => ({
  ...toolOf(name, "Find an invoice", parameters),
  outputSchema: { type: "object", properties: { found: { type: "boolean" } } },
  ...more,
});

test("a read that answers whether a call with the caller's id happened is suggested as its look-up", () => {
  expect(suggestedFor(send, find("find_invoice", { "invoiceId!": "string" }))["send_invoice"]).toEqual({
    lookup: { tool: "find_invoice", arguments: { invoiceId: "<<arguments.invoiceId>>" } },
  });
});

test.each<[string, ToolDescriptor[]]>([
  ["it does not answer with found", [find("find_invoice", { "invoiceId!": "string" }, { outputSchema: {} })]],
  ["it needs another argument", [find("find_invoice", { "customerId!": "string" })]],
  ["it is not found by an id", [find("find_invoice", { "amount!": "number" })]],
  ["it is about something else", [find("find_receipt", { "invoiceId!": "string" })]],
  ["there are two", ["find_invoice", "get_invoice"].map((name) => find(name, { "invoiceId!": "string" }))],
])("no look-up is suggested when %s", (_why, others) => {
  expect(suggestedFor(send, ...others)).not.toHaveProperty("send_invoice");
});

test.each([
  ["Compress files. Do not call this tool concurrently.", { max_concurrency: 1 }],
  ["Compress files, one call at a time.", { max_concurrency: 1 }],
  ["Compress files. Can be called in parallel.", undefined],
])("calls one at a time are suggested where the description asks for them: %s", (description, expected) => {
  expect(suggestedFor(toolOf("compress", description))["compress"]).toEqual(expected);
});

const list = toolOf("list_users", "List users");
const seen = (more: object = {}) => ({ count: 100, failures: 0, p99Ms: 1_234.5, ...more });

test.each<[string, ToolToSuggest, object]>([
  ["ten times what 99 in 100 calls took", { tool: list, seen: seen() }, { ...reads, timeout_ms: 13_000 }],
  ["at least 10 s", { tool: list, seen: seen({ p99Ms: 3 }) }, { ...reads, timeout_ms: 10_000 }],
  ["none after few calls", { tool: list, seen: seen({ count: 49 }) }, reads],
  ["none after a failure", { tool: list, seen: seen({ failures: 1 }) }, reads],
  ["none above the default", { tool: list, seen: seen({ p99Ms: 6_000 }) }, reads],
])("the timeout of a read is %s", (_what, tool, expected) => {
  expect(suggestedTools(suggestContracts([tool]))).toEqual({ list_users: expected });
});

test("no timeout is suggested for an effect, as it would leave a doubt", () => {
  expect(suggestContracts([{ tool: toolOf("send_mail", "Send a mail"), seen: seen() }])).toEqual([]);
});

test("each field has a reason, and what the operator has decided is left out", () => {
  const [suggestion] = suggestContracts([{ tool: list, seen: seen() }]);
  expect(suggestion?.fields.map(({ reason }) => reason)).toEqual([
    'its name (list users) and its description ("list …") say that it reads; no word and no parameter says that it acts',
    "99 in 100 of its last 100 calls took at most 1235 ms, and none failed",
  ]);
  expect(suggestContracts([{ tool: list, decided: new Set(["side_effects"]) }])).toEqual([]);
});

test("a tool that two servers offer is named as on its server", () => {
  expect(suggestContracts([{ tool: { ...list, name: "shop/list_users" } }])).toMatchObject([
    { tool: "list_users" },
  ]);
});

const proposal = (field: ContractProposal["field"], value: ContractProposal["value"]): ContractProposal => ({
  tool: "subject",
  field,
  value,
  reason: "it says so",
});
/** The lines about the first tool, without the reasons of the rules. */
const linesOf = (tools: ToolDescriptor[], ...proposals: ContractProposal[]) =>
  (
    suggestContracts(
      tools.map((tool) => ({ tool })),
      proposals,
    )[0]?.fields ?? []
  ).map(({ field, value, source, against }: SuggestedField) => [
    field,
    value,
    source,
    ...(against === null ? [] : [against]),
  ]);
const subject = (description: string, parameters = {}, annotations?: ToolAnnotations): ToolDescriptor => ({
  ...toolOf("subject", description, parameters, annotations),
});
const named = (tool: ToolDescriptor, name: string): ToolDescriptor => ({ ...tool, name });
const forTool = (tool: string, one: ContractProposal): ContractProposal => ({ ...one, tool });
const isRead = proposal("side_effects", false);
const isNatural = proposal("idempotency", "natural");

test.each<[string, ToolDescriptor, ContractProposal, unknown[]]>([
  ["a read", subject("Weather of a city"), isRead, ["side_effects", false, "model"]],
  ["a natural repeat", subject("Makes a lamp green"), isNatural, ["idempotency", "natural", "model"]],
  ["one call at a time", subject("Weather"), proposal("max_concurrency", 1), ["max_concurrency", 1, "model"]],
])("a model may propose %s where no rule knows", (_, tool, proposed, line) => {
  expect(linesOf([tool], proposed)).toEqual([line]);
  expect(suggestedTools(suggestContracts([{ tool }], [proposed]))).toEqual({
    subject: { [proposed.field]: proposed.value },
  });
});

test.each<[string, ToolDescriptor, ContractProposal, string]>([
  [
    "a word of its description",
    subject("Weather. It also deletes the log"),
    isRead,
    'its description says "deletes"',
  ],
  [
    "a word of its name",
    named(subject("Weather"), "drop_table"),
    forTool("drop_table", isRead),
    'its name has "drop"',
  ],
  [
    "a verb of its name that no rule needs",
    named(subject("It only reads"), "funds_transfer"),
    forTool("funds_transfer", isRead),
    'its name has "transfer"',
  ],
  ["a hint", subject("Weather", {}, { readOnlyHint: false }), isRead, "its readOnlyHint says that it acts"],
  [
    "a parameter",
    subject("Weather", { "sql!": "string" }),
    isRead,
    "its parameter sql may ask for an effect",
  ],
  [
    "a hint about repeats",
    subject("Lamp", {}, { idempotentHint: false }),
    isNatural,
    "its idempotentHint says that a repeat changes more",
  ],
  [
    "a verb that acts each time",
    named(subject("A mail"), "send_mail"),
    forTool("send_mail", isNatural),
    'its name begins with "send", which happens each time',
  ],
  [
    "a description without the key",
    subject("Pays"),
    proposal("idempotency", "key"),
    "its description does not say that it honours dev.planwright/idempotencyKey",
  ],
])(
  "a proposal that loosens a contract against %s is shown with it, and in no block",
  (_, tool, proposed, against) => {
    expect(linesOf([tool], proposed)).toEqual([[proposed.field, proposed.value, "model", against]]);
    expect(suggestedTools(suggestContracts([{ tool }], [proposed]))).toEqual({});
  },
);

test.each<[string, JsonValue, ContractProposal, string]>([
  ["side_effects", true, isRead, "its own contract says that it acts"],
  ["idempotency", "none", isNatural, "its own contract says that a repeat does more"],
])(
  "what the server's contract says about %s is against a proposal that loosens it",
  (field, value, proposed, against) => {
    const tool = { tool: subject("Weather"), declared: new Map([[field, value]]) };
    const [suggested] = suggestContracts([tool], [proposed]);
    expect(suggested?.fields).toEqual([{ ...proposed, tool: undefined, source: "model", against }]);
    const listed = toolOf("get_users", "Get the users");
    expect(suggestContracts([{ tool: listed, declared: new Map([["side_effects", true]]) }])).toEqual([]);
  },
);

test("a model that is more careful than the rules wins, and both lines are shown", () => {
  const tool = named(subject("Get the next one of a user"), "get_users");
  const proposed = forTool("get_users", proposal("side_effects", true));
  expect(linesOf([tool], proposed)).toEqual([
    ["side_effects", false, "rule", "a model disagrees: it says so"],
    ["side_effects", true, "model"],
  ]);
  expect(suggestedTools(suggestContracts([{ tool }], [proposed]))).toEqual({
    get_users: { side_effects: true },
  });
});

test("a model cannot take back what a rule tightens", () => {
  const tool = named(subject("Label", {}, readOnlyHint), "delete_label");
  const [rule, line] = linesOf([tool], forTool("delete_label", isRead));
  expect(rule).toEqual(["side_effects", true, "rule"]);
  expect(line).toEqual(["side_effects", false, "model", 'its name has "delete"']);
});

test.each<[string, ToolDescriptor, ContractProposal[]]>([
  ["says what holds anyway", subject("Weather"), [proposal("side_effects", true)]],
  ["is about another tool", subject("Weather"), [forTool("other", isRead)]],
  ["is about repeats of a read", subject("Weather", {}, readOnlyHint), [isNatural]],
])("a proposal that %s is left out", (_, tool, proposals) => {
  expect(linesOf([tool], ...proposals)).toEqual([]);
});

test("a proposal that a rule has already, a second one, and one that the operator has decided are left out", () => {
  const tool = toolOf("list_users", "List users");
  const again = [isRead, isRead].map((one) => forTool("list_users", one));
  expect(linesOf([tool], ...again)).toEqual([["side_effects", false, "rule"]]);
  const both = [isRead, proposal("side_effects", true)];
  expect(linesOf([subject("Weather")], ...both)).toEqual([["side_effects", false, "model"]]);
  const decided = new Set(["side_effects"]);
  expect(suggestContracts([{ tool: subject("Weather"), decided }], [isRead])).toEqual([]);
});

const lookupBy = (tool: string, args: Record<string, string>) =>
  proposal("lookup", { tool, arguments: args });
const charge = subject("Charges a card", { "chargeId!": "string" });
const byId = { id: "<<arguments.chargeId>>" };

test.each<[string, ToolDescriptor, ContractProposal, string?]>([
  ["fits", find("find_payment", { "id!": "string" }), lookupBy("find_payment", byId)],
  [
    "is not there",
    find("find_payment", { "id!": "string" }),
    lookupBy("find_all", byId),
    "this server has no other tool of that name",
  ],
  [
    "does not answer with found",
    toolOf("find_payment", "Find a payment", { "id!": "string" }),
    lookupBy("find_payment", byId),
    'find_payment does not declare an output with "found"',
  ],
  [
    "may act",
    find("pop_payment", { "id!": "string" }),
    lookupBy("pop_payment", byId),
    "nothing certain says that pop_payment only reads",
  ],
  [
    "gets a value that the call does not have",
    find("find_payment", { "id!": "string" }),
    lookupBy("find_payment", { id: "<<arguments.other>>" }),
    "its arguments do not lead from those of the call to those of find_payment",
  ],
])("a look-up tool that a model names and that %s is judged by the rules", (_, other, proposed, against) => {
  expect(linesOf([charge, other], proposed)).toEqual([
    ["lookup", proposed.value, "model", ...(against === undefined ? [] : [against])],
  ]);
});
