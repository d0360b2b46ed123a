/**
 * What plans take in the database, through the front door: plans of several shapes, each shape in its own database, so
 * that the differences say what one more step, item, attempt, model call or large output takes. Data is BSON without
 * compression; files and indexes are as MongoDB's storage engine writes them, after a checkpoint. The figures are those
 * of `planwright storage`.
 *
 * npm run bench -- storage [--plans 300] [--only <shapes>] [--node 24] [--json]
 */
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sizeText } from "@planwright/plan";
import { inspectStorage, type StorageFacts } from "@planwright/store";
import { type BehaviourInput, startCountingToolServer, startModelServer } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { developerCommand, print, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { FROM_SOURCE, startServers, startService, waitForTools } from "../servers/servers.ts";
import { createBenchClient, operation, UnexpectedAnswerError } from "./bench-client.ts";
import { rounded } from "./figures.ts";
import { TASKS, type Task } from "./model-tasks.ts";
import { scriptedModel } from "./scripted-model.ts";

const { plans, only, json } = developerCommand(
  "bench -- storage",
  "Measures what plans take in the database.",
)
  .option("--plans <number>", "of each shape", wholeNumberOption(20, 20_000), 300)
  .option("--only <shapes>", "these shapes alone, with commas between them; no factors")
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ plans: number; only?: string; json: boolean }>();

/** Steps of the long plans beside the first, and items of the long lists beside the first. */
const MORE_STEPS = 10;
const MORE_ITEMS = 20;
const IN_FLIGHT = 16;

type Steps = readonly object[];

/** Equal plans. */
interface Shape {
  steps: Steps;
  /** Steps whose outputs the plan returns. Default: all. */
  outputs?: readonly string[];
  /** What `keyed_effect` does before it acts, in each plan; these plans run one after the other. */
  fails?: BehaviourInput;
  /** The plan is made from a sentence, by one call of a scripted model, which knows {@link TASK}. */
  isPlanned?: boolean;
}

/** What the model is asked for: five reads, which is more than it calls without a plan. */
const TASK = taskNamed("5 at once");
/** A read of about 120 bytes. */
const weather = { tool: "get_weather", arguments: { city: "Utrecht" } };
const effect = { tool: "keyed_effect", arguments: { value: "Utrecht" } };
const inTurn = (call: object): Steps =>
  Array.from({ length: MORE_STEPS + 1 }, (_, index) => ({
    id: `s${index}`,
    ...call,
    dependsOn: index === 0 ? [] : [`s${index - 1}`],
  }));
const list = (length: number, { tool }: { tool: string }, argument: string): Steps => [
  {
    id: "s0",
    forEach: {
      items: Array.from({ length }, (_, index) => `Utrecht ${index}`),
      do: { tool, arguments: { [argument]: "<<item>>" } },
    },
  },
];
/** A list of records, each of about 50 bytes of JSON. */
const records = (count: number): Steps => [
  { id: "s0", tool: "list_open_orders", arguments: { count: String(count) } },
];

const SHAPES = {
  read: { steps: [{ id: "s0", ...weather }] },
  reads: { steps: inTurn(weather) },
  effect: { steps: [{ id: "s0", ...effect }] },
  effects: { steps: inTurn(effect) },
  attempts: {
    steps: [{ id: "s0", ...effect, retry: { initialMs: 0 } }],
    fails: { type: "status", status: 503 },
  },
  "1-KiB": { steps: records(20) },
  "32-KiB": { steps: records(640) },
  "32-KiB-inside": { steps: [...records(640), { id: "s1", ...weather }], outputs: ["s1"] },
  "300-KiB": { steps: records(6_000) },
  "read-item": { steps: list(1, weather, "city") },
  "read-items": { steps: list(MORE_ITEMS + 1, weather, "city") },
  "effect-item": { steps: list(1, effect, "value") },
  "effect-items": { steps: list(MORE_ITEMS + 1, effect, "value") },
  "five-reads": { steps: TASK.calls },
  planned: { steps: TASK.calls, isPlanned: true },
} as const satisfies Record<string, Shape>;
type ShapeName = keyof typeof SHAPES;

/** What one plan takes, in bytes, and its documents. */
interface Taken {
  documents: number;
  /** BSON, without compression. */
  data: number;
  /** Of the files with the documents, without their free parts. */
  files: number;
  indexes: number;
}

/** Records that belong to requests; the others do not grow with the number of plans. */
const GROUPS = ["journal", "heads", "outputs", "model calls"] as const;
type Group = (typeof GROUPS)[number];

/** The figures of a shape. */
interface Measured {
  all: Taken;
  groups: Record<Group, Taken>;
  /** Of the prompt of a planned shape. */
  promptBytes: number;
}

/** What one more of something takes: the difference of two shapes. */
interface Factor {
  what: string;
  of: ShapeName;
  /** Default: nothing. */
  without?: ShapeName;
  /** How many of it the first shape has more than the second. */
  more?: number;
}

const FACTORS: readonly Factor[] = [
  { what: "request with its plan and one step that reads", of: "read" },
  { what: "each further step that reads", of: "reads", without: "read", more: MORE_STEPS },
  { what: "first step has an effect instead", of: "effect", without: "read" },
  { what: "each further step with an effect", of: "effects", without: "effect", more: MORE_STEPS },
  { what: "each further attempt", of: "attempts", without: "effect" },
  { what: "output of 1 KiB", of: "1-KiB", without: "read" },
  { what: "output of 32 KiB", of: "32-KiB", without: "read" },
  {
    what: "step with an output of 32 KiB that the plan does not return",
    of: "32-KiB-inside",
    without: "read",
  },
  { what: "output of 300 KiB", of: "300-KiB", without: "read" },
  { what: "each further item that reads", of: "read-items", without: "read-item", more: MORE_ITEMS },
  { what: "each further item with an effect", of: "effect-items", without: "effect-item", more: MORE_ITEMS },
  { what: "planning of a sentence, with one model call", of: "planned", without: "five-reads" },
];

/** A call as usual. */
const ACTS: BehaviourInput = { type: "latency", ms: 0 };
const SUBMIT = "mutation ($plan: JSON!) { made: submitPlan(plan: $plan, waitMs: 30000) { status } }";
const CREATE = "mutation ($query: String!) { made: createPlan(query: $query, waitMs: 30000) { status } }";
const AT_ONCE = { firstTokenMs: 0, perPromptTokenMs: 0, perOutputTokenMs: 0 };

const NOTHING: Taken = { documents: 0, data: 0, files: 0, indexes: 0 };

const servers = await startServers();
const { folder, redisUrl } = servers;
const [counting, model] = await Promise.all([
  startCountingToolServer({ ledgerFile: join(folder, "ledger.jsonl") }),
  startModelServer(),
]);
const serversFile = join(folder, "servers.json");
const office = {
  command: process.execPath,
  args: [...FROM_SOURCE, fileURLToPath(new URL("model-tool-server.ts", import.meta.url))],
  env: { PATH: process.env["PATH"] ?? "", LATENCY_MS: "0" },
  trusted: true,
};
const mcpServers = { office, counting: { url: counting.url, trusted: true } };
await writeFile(serversFile, JSON.stringify({ mcpServers }));
const admin = await MongoClient.connect(servers.mongodbUrl("admin"));
const { version } = await admin.db().admin().serverInfo();

const names = Object.keys(SHAPES) as ShapeName[];
const wanted = names.filter((name) => only === undefined || only.split(",").includes(name));
const measured = new Map<ShapeName, Measured>();
try {
  for (const name of wanted) {
    measured.set(name, await measure(name, SHAPES[name]));
    say(`${name} ${JSON.stringify(measured.get(name)?.all)}`);
  }
} finally {
  await Promise.all([counting.close(), model.close(), admin.close()]);
  await servers.stop();
}
const factors = FACTORS.flatMap(factorOf);
const runtime = { node: process.version, cores: availableParallelism(), mongodb: String(version) };
printTables();
if (json) printJson({ runtime, plans, shapes: Object.fromEntries(measured), factors });

/** Runs the plans of a shape in a new database. */
async function measure(
  name: ShapeName,
  { steps, outputs = [], fails, isPlanned = false }: Shape,
): Promise<Measured> {
  const mongodbUrl = servers.mongodbUrl(`storage_${name}`);
  const env = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: `storage_${name}` };
  const planner = { ...env, MODEL: "openai:bench", OPENAI_BASE_URL: model.openAiUrl };
  const roles = await Promise.all([
    startService("api", "source", { ...env, REQUESTS_PER_MINUTE: "0" }),
    startService("executor", "source", { ...env, MCP_SERVERS_FILE: serversFile }),
    ...(isPlanned ? [startService("planner", "source", planner)] : []),
  ]);
  let before: StorageFacts;
  const prompts = model.requests.length;
  try {
    const url = roles[0]?.url ?? "";
    await waitForTools(url, ["get_weather", "keyed_effect"]);
    if (fails) counting.script({ keyed_effect: Array.from({ length: plans }, () => [fails, ACTS]).flat() });
    model.script(
      scriptedModel({ task: TASK, contender: "planwright", latency: AT_ONCE, onCall: () => undefined }),
    );
    before = await figures(mongodbUrl);
    await submitAll(url, { plans, plan: { steps, outputs }, isPlanned, inFlight: fails ? 1 : IN_FLIGHT });
  } finally {
    await Promise.all(roles.map((role) => role.stop()));
  }
  const after = await figures(mongodbUrl);
  const groups = Object.fromEntries(
    GROUPS.map((group) => [group, perPlan(before, after, [group], plans)]),
  ) as Record<Group, Taken>;
  return {
    all: perPlan(before, after, GROUPS, plans),
    groups,
    promptBytes: Buffer.byteLength(JSON.stringify(model.requests[prompts]?.body["messages"] ?? "")),
  };
}

function taskNamed(wantedName: string): Task {
  const found = TASKS.find(({ name }) => name === wantedName);
  if (!found) throw new RangeError(`No task is named ${wantedName}`);
  return found;
}

/** Options of {@link submitAll}. */
interface Load {
  plans: number;
  plan: object;
  isPlanned: boolean;
  inFlight: number;
}

/** @throws {UnexpectedAnswerError} when a plan does not end COMPLETED: its figures would mean nothing */
async function submitAll(url: string, { plans, plan, isPlanned, inFlight }: Load): Promise<void> {
  const client = createBenchClient(url, inFlight);
  const body = isPlanned ? operation(CREATE, { query: TASK.query }) : operation(SUBMIT, { plan });
  let left = plans;
  const oneAfterAnother = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      const text = await client.send(body);
      if (!text.includes('"status":"COMPLETED"')) throw new UnexpectedAnswerError({ status: 200, text });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, oneAfterAnother));
  client.close();
}

/** The counters of a database, after a checkpoint: until then the files are older than the data. */
async function figures(url: string): Promise<StorageFacts> {
  await admin.db("admin").command({ fsync: 1 });
  return inspectStorage({ url, retentionDays: "never", scanMs: 0 });
}

function perPlan(before: StorageFacts, after: StorageFacts, groups: readonly string[], plans: number): Taken {
  const sumOf = (
    { collections }: StorageFacts,
    of: (stored: StorageFacts["collections"][number]) => number,
  ) => collections.reduce((sum, stored) => sum + (groups.includes(stored.group) ? of(stored) : 0), 0);
  const each = (of: Parameters<typeof sumOf>[1]) => (sumOf(after, of) - sumOf(before, of)) / plans;
  return {
    documents: rounded(
      each(({ documents }) => documents),
      2,
    ),
    data: Math.round(each(({ dataBytes }) => dataBytes)),
    files: Math.round(each(({ fileBytes, freeBytes }) => fileBytes - freeBytes)),
    indexes: Math.round(each(({ indexBytes }) => indexBytes)),
  };
}

/** Empty when one of its shapes was not measured. */
function factorOf({ what, of, without, more = 1 }: Factor): [{ what: string } & Taken] | [] {
  const first = measured.get(of)?.all;
  const second = without === undefined ? NOTHING : measured.get(without)?.all;
  if (!first || !second) return [];
  const difference = (field: keyof Taken): number => (first[field] - second[field]) / more;
  return [
    {
      what,
      documents: rounded(difference("documents"), 2),
      data: Math.round(difference("data")),
      files: Math.round(difference("files")),
      indexes: Math.round(difference("indexes")),
    },
  ];
}

/** Tables for people: each shape by the kind of its records, then the factors. */
function printTables(): void {
  const cells = ({ documents, data, files, indexes }: Taken) => ({
    documents,
    data,
    files,
    indexes,
    disk: files + indexes,
  });
  const shapes = [...measured].flatMap(([name, { all, groups }]) => [
    [name, cells(all)] as const,
    ...GROUPS.filter((group) => groups[group].documents > 0).map(
      (group) => [`${name}, ${group}`, cells(groups[group])] as const,
    ),
  ]);
  print(`Bytes of one plan, measured with ${plans} of each shape:`);
  console.table(Object.fromEntries(shapes));
  if (factors.length > 0) {
    print("Bytes of one more:");
    console.table(Object.fromEntries(factors.map(({ what, ...taken }) => [what, cells(taken)])));
  }
  const prompt = measured.get("planned")?.promptBytes;
  if (prompt !== undefined) print(`The prompt of the model call had ${sizeText(prompt)}.`);
  print(`Node ${runtime.node}, ${runtime.cores} cores, MongoDB ${runtime.mongodb}`);
}
