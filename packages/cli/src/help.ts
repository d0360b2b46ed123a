const ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Examples below the help of the program and of each command. */
export const EXAMPLES = {
  planwright: examples(
    'planwright run "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world"',
    `planwright debug ${ID}`,
  ),
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
    "planwright bulk rerun --tool createBlog --from createBlog --yes",
  ),
  pause: examples(`planwright pause ${ID}`),
  resume: examples(`planwright resume ${ID} --watch`),
  completion: examples("source <(planwright completion bash)"),
} as const;

/** Scripts may rely on these; the README has the same table. */
export const EXIT_CODES = `
Exit codes:
  0    done; of a followed request: it is COMPLETED
  1    the plan failed, ended PARTIAL or CANCELLED, is invalid, or could not be made
  2    the command itself is wrong
  3    it waits for a person: an answer, an approval, a doubt, a start, a resume
  4    the API does not answer, or refused; nothing was changed
  124  --timeout has passed; the request continues
  130, 143  Ctrl-C, SIGTERM; the request continues`;
