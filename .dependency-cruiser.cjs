/** Imports run one way: plan <- engine <- (store, queue, tools, models, runtime, client, tool-kit), plan <- reading <- (models, cli), models <- offline, all of them <- (local, services, cli) <- lab. */
const PACKAGES = {
  plan: [],
  engine: ["plan"],
  store: ["plan", "engine"],
  queue: ["plan", "engine"],
  tools: ["plan", "engine"],
  reading: ["plan"],
  models: ["plan", "engine", "reading"],
  offline: ["plan", "engine", "reading", "models"],
  runtime: ["plan", "engine"],
  client: ["plan"],
  "tool-kit": ["plan"],
  "test-kit": ["plan", "engine", "tool-kit"],
  local: ["plan", "client"],
  testing: ["plan", "engine", "client"],
  cli: ["plan", "client", "reading", "local"],
};
const adapters = [
  "plan",
  "reading",
  "engine",
  "store",
  "queue",
  "tools",
  "models",
  "offline",
  "runtime",
  "client",
  "tool-kit",
];
const TEST = "(\\.test\\.ts$|/test/)";

const forbidden = [
  { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
  {
    // Folders are layers: between two folders of a package imports run one way.
    // A folder and the folders inside it count as one.
    name: "no-folder-cycle",
    severity: "error",
    scope: "folder",
    from: { path: "^(packages|services)/[^/]+/src/" },
    to: { circular: true },
  },
  { name: "not-to-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  {
    // Except the one that puts them into one process.
    name: "no-service-imports-a-service",
    severity: "error",
    from: { path: "^services/([^/]+)/", pathNot: "^services/planwright/" },
    to: { path: "^services/", pathNot: "^services/$1/" },
  },
  {
    name: "only-lab-imports-services",
    severity: "error",
    from: { path: "^packages/", pathNot: "^packages/lab/" },
    to: { path: "^services/" },
  },
  {
    name: "only-tests-use-test-packages",
    severity: "error",
    from: { path: "^(packages|services)/", pathNot: ["^packages/(local|testing|lab)/", TEST] },
    to: { path: "^packages/testing/" },
  },
  {
    name: "nothing-imports-lab",
    severity: "error",
    from: { pathNot: "^packages/lab/" },
    to: { path: "^packages/lab/" },
  },
  {
    name: "services-use-adapters-only",
    severity: "error",
    from: { path: "^services/", pathNot: TEST },
    to: { path: "^packages/", pathNot: `^packages/(${adapters.join("|")})/` },
  },
  {
    name: "pure-packages-do-no-io",
    severity: "error",
    from: { path: "^packages/(plan|reading|engine)/src/", pathNot: TEST },
    to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
  },
  {
    name: "tests-stay-out-of-code",
    severity: "error",
    from: { pathNot: [TEST, "^packages/lab/"] },
    to: { path: "^(packages|services)/.*(\\.test\\.ts$|/test/)" },
  },
  ...Object.entries(PACKAGES).map(([name, allowed]) => ({
    name: `layer-${name}`,
    severity: "error",
    from: { path: `^packages/${name}/`, pathNot: TEST },
    to: { path: "^packages/", pathNot: `^packages/(${[name, ...allowed].join("|")})/` },
  })),
];

module.exports = {
  forbidden,
  options: {
    doNotFollow: { path: "node_modules" },
    // What is written by commands: built programs, and the npm package of `npm run pack`.
    exclude: { path: ["^(packages|services)/[^/]+/dist/", "^packages/cli/package/"] },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@planwright/source", "import", "node", "default"],
    },
  },
};
