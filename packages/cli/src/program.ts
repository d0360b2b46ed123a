import type * as Local from "@planwright/local";
import { RequestIdSchema } from "@planwright/plan";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import {
  type AskOptions,
  plan,
  run,
  type SentenceOptions,
  type SubmitFlags,
  submit,
  validate,
} from "./commands/ask-plan.ts";
import { BULK_CHANGES, type BulkChange, type BulkOptions, bulk, bulkOptions } from "./commands/bulk.ts";
import { call } from "./commands/call.ts";
import type { CommandContext } from "./commands/command-context.ts";
import {
  type AmendOptions,
  amend,
  cancel,
  type ExecuteOptions,
  execute,
  pause,
  type RetryOptions,
  replan,
  resume,
  retry,
} from "./commands/control.ts";
import {
  type ApproveOptions,
  answer,
  approve,
  collectSet,
  type DoubtOptions,
  resolve,
} from "./commands/decide.ts";
import { doctor } from "./commands/doctor.ts";
import { followToEnd } from "./commands/follow-to-end.ts";
import { type ListOptions, list, listOptions, type Moment, parseMoment } from "./commands/list-requests.ts";
import {
  cost,
  debug,
  fleet,
  type OutputOptions,
  printOutput,
  signIn,
  suggestContracts,
  type ToolsOptions,
  tools,
} from "./commands/look.ts";
import { types } from "./commands/types.ts";
import { LIST_REQUESTS } from "./operations.ts";
import {
  askOptions,
  type GlobalOptions,
  globalOptions,
  repeatOption,
  sentenceOptions,
  wholeNumber,
} from "./program-options.ts";
import { EXIT, type ExitCode } from "./report/exit-code.ts";
import {
  complete,
  printCompletion,
  requestIdLines,
  SHELLS,
  type Shell,
  wantsRequestId,
} from "./shell-completion.ts";

/** The dependencies of the program on its process. */
export interface ProgramParts {
  version: string;
  /** Runs a command with the global options. */
  perform: (
    options: GlobalOptions,
    isUrlGiven: boolean,
    command: (context: CommandContext) => Promise<ExitCode>,
  ) => Promise<void>;
  /** Runs a command that needs no API, but the whole system on this machine. */
  performLocally: (command: (local: typeof Local) => Promise<void> | void) => Promise<void>;
  print: (text: string) => void;
}

/** Longest wait of a shell for ids of requests, in milliseconds. */
const COMPLETION_MS = 1_500;

type Watch = { watch?: boolean };

/** Declares the commands and their options; each action calls one function. */
export function createProgram({ version, perform, performLocally, print }: ProgramParts): Command {
  const program = new Command("planwright")
    .description("One sentence in, one stored plan out, executed to the end whatever crashes.")
    .version(version)
    .showHelpAfterError("planwright --help shows every command; planwright <command> --help shows one.")
    .addHelpText("after", `${EXAMPLES.planwright}\n${EXIT_CODES}`);
  for (const option of globalOptions()) program.addOption(option);

  const performs = (command: (context: CommandContext) => Promise<ExitCode>) =>
    perform(program.opts(), program.getOptionValueSource("url") === "cli", command);
  const add = (name: keyof typeof EXAMPLES, description: string) =>
    program.command(name).description(description).addHelpText("after", EXAMPLES[name]);
  const sentence = () => new Argument("<sentence...>", "what is to be done, in plain words");
  const watch = () => new Option("--watch", "then follow the request");

  const withAskOptions = (command: Command) => {
    for (const option of askOptions()) command.addOption(option);
    return command;
  };
  const withSentenceOptions = (command: Command) => {
    for (const option of sentenceOptions()) command.addOption(option);
    return withAskOptions(command);
  };

  add("up", "start the whole system on this machine, with its own databases, until Ctrl-C")
    .option(
      "--processes <number>",
      "processes with all roles, behind one port; more than 1 need Redis",
      wholeNumber(64),
      1,
    )
    .action((options: { processes: number }) => performLocally(({ up }) => up(options)));
  add("demo", "start the system, execute one sentence, and show what happened")
    .argument("[sentence...]", "what is to be done; default: an example")
    .action((words: string[]) => performLocally(({ demo }) => demo(words)));
  add("keys", "make, list and revoke API keys in the database of MONGODB_URL")
    .argument(
      "[words...]",
      "create, list, revoke or tenant, with their options; default: print how they are used",
    )
    .allowUnknownOption()
    .action((words: string[]) => performLocally(({ operate }) => operate("keys", words)));
  add("upgrade", "convert the database of MONGODB_URL from an earlier version, as a start does")
    .option("--check", "only say what would be converted")
    .action(({ check }: { check?: boolean }) =>
      performLocally(({ operate }) => operate("upgrade", check ? ["--check"] : [])),
    );
  add(
    "storage",
    "what the database of MONGODB_URL holds, by tenant and age, and what retention frees of it; --timeout limits the scans",
  ).action(() => {
    const { json, timeout } = program.opts<GlobalOptions>();
    const limit = timeout === undefined ? [] : ["--scan-ms", String(timeout)];
    return performLocally(({ operate }) => operate("storage", [...(json ? ["--json"] : []), ...limit]));
  });
  for (const [name, file, description] of [
    [
      "backup",
      "a new file, or - for standard output",
      "write the database of MONGODB_URL into one file, as of one point in time; services may run",
    ],
    [
      "restore",
      "a file that backup has written",
      "read a backup into the empty database of MONGODB_URL; requests that had not ended are paused",
    ],
  ] as const) {
    add(name, description)
      .argument("<file>", file)
      .action((path: string) => {
        const { json } = program.opts<GlobalOptions>();
        return performLocally(({ operate }) => operate(name, [...(json ? ["--json"] : []), "--", path]));
      });
  }
  add(
    "doctor",
    "check this machine, the settings, the servers that they name, and the system if it runs; says what to change",
  ).action(() => performs((context) => doctor(context, version)));
  withSentenceOptions(
    add("run", "plan a sentence, execute the plan, and follow it to its end")
      .addArgument(sentence())
      .option("--detach", "print the requestId and do not follow"),
  ).action((words: string[], options: AskOptions & SentenceOptions & { detach?: boolean }) =>
    performs((context) => run(context, words.join(" "), options)),
  );
  withSentenceOptions(
    add("plan", "plan a sentence and show the plan; start nothing").addArgument(sentence()),
  ).action((words: string[], options: AskOptions & SentenceOptions) =>
    performs((context) => plan(context, words.join(" "), options)),
  );
  withAskOptions(
    add("submit", "submit a plan as JSON, in any dialect; no model is called")
      .argument("<file>", "JSON file, or - for standard input")
      .option("--execute", "start it and follow it to its end")
      .option("--query <sentence>", "the sentence that the plan was made for; stored for people to read")
      .option("--detach", "with --execute: print the requestId and do not follow"),
  ).action((file: string, options: SubmitFlags) => performs((context) => submit(context, file, options)));
  add("validate", "check a plan against the available tools; store and start nothing")
    .argument("<file>", "JSON file, or - for standard input")
    .action((file: string) => performs((context) => validate(context, file)));
  add("execute", "start a plan that was only planned, and follow it")
    .addArgument(requestArgument())
    .option("--hash <hash>", "only the plan with this hash: 8 or more characters of the hash that plan shows")
    .option("--detach", "do not follow")
    .action((requestId: string, options: ExecuteOptions) =>
      performs((context) => execute(context, requestId, options)),
    );
  add("watch", "follow a request until it has ended or waits for a person")
    .addArgument(requestArgument())
    .option("--stay", "keep watching while it waits for a person, until it has ended")
    .action((requestId: string, { stay }: { stay?: boolean }) =>
      performs((context) =>
        followToEnd(context, requestId, { until: stay ? "end" : "rest", wasAccepted: false }),
      ),
    );
  add("debug", "show the cause of a request's problem, why, and what to type next; then everything recorded")
    .addArgument(requestArgument())
    .option("--bundle", "print the whole record as one JSON document, without secrets, to share")
    .action((requestId: string, options: { bundle?: boolean }) =>
      performs((context) => debug(context, requestId, options)),
    );
  add("output", "print an output that is too large to be shown, as JSON")
    .argument("<ref>", "as debug, run and watch show it")
    .option("--out <file>", "write it to a file, which must not exist yet")
    .action((ref: string, options: OutputOptions) =>
      performs((context) => printOutput(context, ref, options)),
    );
  const listing = add(
    "list",
    "list the newest requests, with their failures and the decisions that they wait for",
  );
  for (const option of listOptions()) listing.addOption(option);
  listing.action((options: ListOptions) => performs((context) => list(context, options)));
  add("tools", "list the tools that plans may use, or show one")
    .argument("[name]", "one tool, with its arguments and its contract")
    .option(
      "--reload <server>",
      "connect all executors to this server anew: a stdio server gets a new process",
    )
    .option("--slow", "list the tools that your plans called in the last 24 hours, the slowest first")
    .action((name: string | undefined, options: ToolsOptions) =>
      performs((context) => tools(context, name, options)),
    );
  add("sign-in", "say where to sign in at a tool server, and wait until that is done")
    .argument("[server]", "its name, as tools lists it; default: list the servers that have a sign-in")
    .action((server: string | undefined) => performs((context) => signIn(context, server)));
  add(
    "call",
    "call one tool by hand: shows its contract, how long the call took, and the shape of its output",
  )
    .argument("<tool>", "its name, as tools lists it")
    .argument("[arguments]", "a JSON object, or the file that has it; default: {}")
    .option("--yes", "call it without asking, also when it has side effects")
    .action((name: string, given: string | undefined, options: { yes?: boolean }) =>
      performs((context) => call(context, { name, given }, options)),
    );
  add(
    "types",
    "write TypeScript types of all tools, with a definePlan that refuses wrong plans at compile time",
  )
    .option("--out <file>", "write them to this file; default: print them")
    .action((options: { out?: string }) => performs((context) => types(context, options)));
  add("contracts", "suggest contracts for the tools of a server that publishes none; changes nothing")
    .addArgument(new Argument("<what>", "what to do").choices(["suggest"]))
    .argument("<server>", "its name in the servers file")
    .action((_what: string, server: string) => performs((context) => suggestContracts(context, server)));
  add(
    "fleet",
    "list the executors and planners that are alive or died recently, and the work that waits for them",
  ).action(() => performs((context) => fleet(context)));
  add("cost", "show what your model calls cost: by model, and the most expensive requests")
    .addOption(
      new Option("--since <time>", "calls since then: 24h, 30m, 2d, or 2026-11-21T08:00:00Z; 31 days at most")
        .argParser(parseMoment)
        .default({ agoMs: 86_400_000 }, "24h"),
    )
    .addOption(new Option("--until <time>", "calls before then; default: now").argParser(parseMoment))
    .action((options: { since: Moment; until?: Moment }) => performs((context) => cost(context, options)));
  add("answer", "answer the planner's questions")
    .addArgument(requestArgument())
    .argument("[answers...]", "one for each question, in their order; the command asks when left out")
    .addOption(watch())
    .action((requestId: string, answers: string[], { watch }: Watch) =>
      performs((context) => answer(context, requestId, { answers, ...(watch ? { watch } : {}) })),
    );
  add("approve", "approve or refuse the call of a step that waits for an approval")
    .addArgument(requestArgument())
    .argument("[stepId]", "may be left out while one step waits")
    .option(
      "--hash <hash>",
      "only the call with this hash: 8 or more characters of the hash that debug shows",
    )
    .option("--refuse", "refuse it: the step fails")
    .option("--reason <text>", "stored for people to read")
    .addOption(watch())
    .action((requestId: string, stepId: string | undefined, options: ApproveOptions) =>
      performs((context) => approve(context, { requestId, stepId }, options)),
    );
  add("resolve", "say whether calls in doubt happened")
    .addArgument(requestArgument())
    .argument(
      "[steps...]",
      "their keys; a list names all its items in doubt; may be left out while one step is in doubt",
    )
    .option("--completed <json>", "it happened, and this is its output")
    .option("--failed <reason>", "it did not, and shall not be called again")
    .option("--retry", "it did not, and is called again")
    .addOption(
      new Option("--attempt <number>", "the attempt that you looked at").argParser(wholeNumber(1_000)),
    )
    .addOption(watch())
    .action((requestId: string, stepKeys: string[], options: DoubtOptions) =>
      performs((context) => resolve(context, { requestId, stepKeys }, options)),
    );
  add("retry", "run the steps again that did not complete; completed steps are kept and not called again")
    .addArgument(requestArgument())
    .option("--from <step>", "also this step and everything that depends on it")
    .addOption(
      new Option(
        "--set <step.argument=value>",
        "another argument for a step that did not complete; JSON if the tool's schema needs it; may be repeated",
      ).argParser(collectSet),
    )
    .addOption(repeatOption())
    .addOption(watch())
    .action((requestId: string, options: RetryOptions) =>
      performs((context) => retry(context, requestId, options)),
    );
  add(
    "amend",
    "replace a plan that has ended or was not started by a corrected one; steps that completed and stay the same are kept",
  )
    .addArgument(requestArgument())
    .argument("[file]", "the complete new plan as JSON; - for standard input")
    .option(
      "--patch <file>",
      "only the changes, as JSON Patch (RFC 6902), instead of the complete plan: a file, the list itself, or - for standard input",
    )
    .addOption(
      new Option(
        "--restore <number>",
        "the plan of this earlier version, such as the one before a replan that made it worse",
      ).argParser(wholeNumber(2 ** 31 - 1)),
    )
    .addOption(
      new Option(
        "--from-version <number>",
        "the version that you looked at: nothing is changed when another is current",
      ).argParser(wholeNumber(2 ** 31 - 1)),
    )
    .addOption(repeatOption())
    .option("--execute", "start it at once")
    .addOption(watch())
    .action((requestId: string, file: string | undefined, options: AmendOptions) =>
      performs((context) => amend(context, { requestId, file }, options)),
    );
  add("replan", "have a model plan the rest of a failed plan again; completed steps are kept")
    .addArgument(requestArgument())
    .option("--note <text>", "what the new plan must do differently; the model reads it")
    .addOption(watch())
    .action((requestId: string, options: Watch & { note?: string }) =>
      performs((context) => replan(context, requestId, options)),
    );
  for (const [name, control, description] of [
    ["cancel", cancel, "end a plan; running calls are asked to stop"],
    ["pause", pause, "start nothing more until resumed; running calls end"],
    ["resume", resume, "resume a paused plan"],
  ] as const) {
    add(name, description)
      .addArgument(requestArgument())
      .addOption(watch())
      .action((requestId: string, options: Watch) =>
        performs((context) => control(context, requestId, options)),
      );
  }
  const bulkCommand = add(
    "bulk",
    "cancel, resume, retry or rerun every matching request; shows them first, and changes exactly those",
  ).addArgument(new Argument("<change>", "what to do with them").choices(BULK_CHANGES));
  for (const option of bulkOptions()) bulkCommand.addOption(option);
  bulkCommand.action((change: BulkChange, options: BulkOptions) =>
    performs((context) => bulk(context, change, options)),
  );
  add("completion", "print a completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell) => printCompletion(program, shell, print));
  // The completion scripts call this; people do not type it.
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((words: string[]) => {
      if (!wantsRequestId(program, words)) return complete(program, words, print);
      program.setOptionValue("timeout", COMPLETION_MS);
      return performs(async ({ client }) => {
        const { requests } = await client.execute(LIST_REQUESTS, { first: 20 });
        print(requestIdLines(requests.nodes));
        return EXIT.OK;
      });
    });
  return program;
}

/** The request that a command is about. */
function requestArgument(): Argument {
  return new Argument("<requestId>", "such as req_1795253322_b8dzgomm7f8z2yi7kyqz").argParser(
    (text: string) => {
      const parsed = RequestIdSchema.safeParse(text);
      if (parsed.success) return parsed.data;
      throw new InvalidArgumentError("A request id looks like req_1795253322_b8dzgomm7f8z2yi7kyqz.");
    },
  );
}

const ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Examples below the help of the program and of each command. */
const EXAMPLES = {
  planwright: examples(
    "planwright up",
    'planwright run "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world"',
    `planwright debug ${ID}`,
  ),
  up: examples(
    "planwright up",
    "PORT=4100 planwright up",
    "MODEL=anthropic:claude-sonnet-4-5 planwright up",
    "planwright up --processes 4",
  ),
  demo: examples("planwright demo", "planwright demo List authors"),
  keys: examples(
    "planwright keys create --tenant acme --scope read,execute --name me",
    "planwright keys list",
    "planwright keys",
  ),
  upgrade: examples("planwright upgrade --check", "planwright upgrade"),
  storage: examples("planwright storage", "planwright storage --json | jq .collections"),
  backup: examples("planwright backup planwright.backup", 'planwright backup "$(date +%F).backup"'),
  restore: examples(
    "planwright restore planwright.backup",
    "planwright restore planwright.backup --json | jq .paused",
  ),
  doctor: examples("planwright doctor", "planwright doctor --json | jq .checks"),
  run: examples(
    'planwright run "Create author Alice with email alice@test.com"',
    'planwright run "Create author Alice with email alice@test.com" --tag team:billing nightly',
    'planwright run "Create author Alice with email alice@test.com" --max-replans 2 --answer --max-cost-usd 0.25',
    'planwright run "Create author Alice with email alice@test.com" --profile orchestrator',
    'planwright run "Remind me tomorrow at 9" --timezone Europe/Berlin --context context.json',
    'planwright run --json "Create author Alice with email alice@test.com" | jq -c .event',
    'id=$(planwright run --detach "Create author Alice with email alice@test.com")',
  ),
  plan: examples(
    'planwright plan "Create author Alice with email alice@test.com"',
    'planwright plan "Create author Alice with email alice@test.com" --max-model-calls 3 --max-tokens 20000',
    `planwright plan "Create author Alice with email alice@test.com" --policy '{"maxParallel": 2}'`,
  ),
  submit: examples(
    "planwright submit plan.json",
    "planwright submit plan.json --execute",
    'planwright submit plan.json --execute --query "Create an author" --max-replans 2 --answer',
    "planwright submit - --execute < plan.json",
  ),
  validate: examples("planwright validate plan.json", "planwright validate - < plan.json"),
  execute: examples(`planwright execute ${ID}`, `planwright execute ${ID} --hash 3f2a9c1b77aa`),
  watch: examples(`planwright watch ${ID}`, `planwright watch ${ID} --timeout 60`),
  debug: examples(
    `planwright debug ${ID}`,
    `planwright debug ${ID} --json | jq .diagnosis`,
    `planwright debug ${ID} --bundle > bundle.json`,
  ),
  output: examples(
    "planwright output plan_1795253322_b8dzgomm7f8z2yi7kyqz/steps/createBlog | jq .",
    "planwright output plan_1795253322_b8dzgomm7f8z2yi7kyqz/steps/createBlog --out blog.json",
  ),
  list: examples(
    "planwright list",
    "planwright list --status FAILED PARTIAL --first 5",
    "planwright list --tag team:billing",
    "planwright list --failed --since 24h",
    "planwright list --needs doubt",
    "planwright list --touched createBlog --since 2026-11-21T01:30:00Z --until 2026-11-21T02:15:00Z",
  ),
  tools: examples(
    "planwright tools",
    "planwright tools createBlog",
    "planwright tools --slow",
    "planwright tools --reload blog",
  ),
  "sign-in": examples("planwright sign-in", "planwright sign-in github"),
  call: examples(
    "planwright call listAuthors",
    `planwright call createAuthor '{"name": "Alice", "email": "alice@test.com"}' --yes`,
    "planwright call createAuthor author.json --json --yes | jq .shape",
  ),
  types: examples("planwright types --out src/planwright-tools.ts", "planwright types | head"),
  contracts: examples(
    "planwright contracts suggest github",
    "planwright contracts suggest github --json | jq .tools",
  ),
  fleet: examples("planwright fleet", "planwright fleet --json | jq '.workers[] | select(.takesWork | not)'"),
  cost: examples(
    "planwright cost",
    "planwright cost --since 7d",
    "planwright cost --since 2d --until 1d --json",
  ),
  answer: examples(`planwright answer ${ID} "email: alice@test.com"`, `planwright answer ${ID} --watch`),
  approve: examples(
    `planwright approve ${ID}`,
    `planwright approve ${ID} deleteAuthor --hash 3f2a9c1b77aa`,
    `planwright approve ${ID} deleteAuthor --hash 3f2a9c1b77aa --refuse --reason "not this one"`,
  ),
  resolve: examples(
    `planwright resolve ${ID} pay --completed '{"paymentId":"p1"}'`,
    `planwright resolve ${ID} pay --failed "the bank never saw it"`,
    `planwright resolve ${ID} pay --retry --watch`,
  ),
  retry: examples(
    `planwright retry ${ID} --watch`,
    `planwright retry ${ID} --from createBlog --repeat createBlog`,
    `planwright retry ${ID} --set createBlog.title='Hello again' --watch`,
  ),
  amend: examples(
    `planwright amend ${ID} plan.json`,
    `planwright amend ${ID} plan.json --execute --watch`,
    `planwright amend ${ID} - --execute < plan.json`,
    `planwright amend ${ID} --patch patch.json --from-version 1`,
    `planwright amend ${ID} --restore 1 --execute`,
  ),
  replan: examples(`planwright replan ${ID} --watch`, `planwright replan ${ID} --note "use another email"`),
  cancel: examples(`planwright cancel ${ID}`, `planwright cancel ${ID} --watch`),
  bulk: examples(
    "planwright bulk retry --code TOOL_TIMEOUT --since 24h",
    "planwright bulk retry --code TOOL_TIMEOUT --since 24h --yes",
    "planwright bulk cancel --tag nightly --dry-run",
    "planwright bulk resume --tag nightly --yes",
    "planwright bulk rerun --tool createBlog --from createBlog --yes",
  ),
  pause: examples(`planwright pause ${ID}`),
  resume: examples(`planwright resume ${ID} --watch`),
  completion: examples("source <(planwright completion bash)"),
} as const;

/** Scripts may rely on these; the README has the same table. */
const EXIT_CODES = `
Exit codes:
  0    done; of a followed request: it is COMPLETED
  1    the plan failed, ended PARTIAL or CANCELLED, is invalid, or could not be made; doctor found a problem
  2    the command itself is wrong
  3    it waits for a person: an answer, an approval, a doubt, a sign-in, a start, a resume
  4    the API does not answer, or refused; nothing was changed
  124  --timeout has passed; the request continues
  130, 143  Ctrl-C, SIGTERM; the request continues`;
