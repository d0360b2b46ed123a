/** What is deployed: docker-compose.yml, the image, and the objects for Kubernetes. */
import { readdirSync, readFileSync } from "node:fs";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const COMPOSE = readFileSync(new URL("../../../docker-compose.yml", import.meta.url), "utf8");
const top = new Map(
  COMPOSE.split(/^(?=[a-z])/m).map((part) => [part.slice(0, part.indexOf(":")), part] as const),
);
const services = new Map(
  (top.get("services") ?? "")
    .split(/^ {2}(?=[a-z])/m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf(":")), part] as const),
);

test("every service of docker-compose.yml bounds the size and number of its log files", () => {
  expect(top.get("x-logging")).toMatch(/max-size: \d+[km], max-file: "\d+"/);
  expect(top.get("x-service")).toMatch(/^ {2}logging: \*logging$/m);
  expect(top.get("x-planwright")).toMatch(/^ {2}<<: \*service$/m);
  expect([...services.keys()]).toEqual(["mongo", "redis", "blog-tools", "executor", "planner", "api"]);
  for (const [name, part] of services)
    expect([name, part]).toEqual([
      name,
      expect.stringMatching(/^ {4}(?:<<: \*(?:service|planwright)|logging: \*logging)$/m),
    ]);
});

test("the image of the API contains the built console that it serves", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const [build = "", image = ""] = read("infra/docker/service.Dockerfile")
    .split(/^(?=FROM )/m)
    .slice(1);
  // The first stage makes the npm package, which the image is.
  expect(build).toMatch(/^COPY services \.\/services$/m);
  expect(build).toMatch(
    /^RUN npm ci --loglevel=error && npx turbo run bundle .* && node infra\/scripts\/pack\.mjs$/m,
  );
  expect(image).toMatch(/^COPY --from=build --chown=node:node \/app\/packages\/cli\/package \.\/$/m);
  expect(JSON.parse(read("services/console/package.json")).scripts.bundle).toMatch(/^vite build/);
  expect(read("infra/scripts/pack.mjs")).toMatch(/^copy\("services\/console\/dist", .*console\/dist`\);$/m);
  expect(top.get("x-planwright")).toMatch(
    /dockerfile: infra\/docker\/service\.Dockerfile, args: \{ SERVICE: planwright \}/,
  );
  for (const role of ["api", "planner", "executor"])
    expect(services.get(role)).toMatch(
      new RegExp(`<<: \\*planwright\\n {4}command: \\[node, .*dist/main.js, --roles, ${role}\\]`),
    );
  expect(services.get("api")).toMatch(/ports: \["127\.0\.0\.1:\$\{PLANWRIGHT_PORT:-4000\}:4000"\]/);
});

const KUBERNETES = new URL("../../../infra/kubernetes/", import.meta.url);
/** The objects of a file for Kubernetes. */
const objectsOf = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(new URL(file, KUBERNETES), "utf8")).map((document) => document.toJS());

/** An object of Kubernetes, as far as these tests read it. */
interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    minReplicaCount?: number;
    selector?: { matchLabels?: object };
    template?: { metadata: { labels: object }; spec: PodSpec };
  };
}

interface PodSpec {
  terminationGracePeriodSeconds: number;
  containers: { command: string[]; ports: { name: string; containerPort: number }[] }[];
}

const MODELS: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
};

test("each object for Kubernetes is valid by its schema, and the kustomization has all files", () => {
  const { resources } = parse(readFileSync(new URL("kustomization.yaml", KUBERNETES), "utf8"));
  const files = readdirSync(KUBERNETES).filter((name) => name.endsWith(".yaml"));
  expect(new Set([...resources, "kustomization.yaml"])).toEqual(new Set(files));
  const objects = resources.flatMap(objectsOf);
  expect(objects.length).toBeGreaterThan(10);
  for (const object of objects) {
    const Model = MODELS[object.kind];
    expect([object.kind, Model]).toEqual([object.kind, expect.any(Function)]);
    if (Model) new Model(object as never).validate();
  }
  const wrong = { ...objectsOf("api.yaml")[0], spec: { replicas: "two" } };
  expect(() => new Deployment(wrong as never).validate()).toThrow(/replicas/);
});

test("each role has a Deployment of its own that ends its work in time, and settings that some role reads", () => {
  const sources = ["services/api", "services/planner", "services/executor", "services/planwright"]
    .map((folder) => readFileSync(new URL(`../../../${folder}/src/env.ts`, import.meta.url), "utf8"))
    .join("\n");
  for (const { data = {} } of objectsOf("settings.yaml").filter(({ data }) => !data?.["mcp-servers.json"]))
    expect(
      Object.keys(data).filter((name) => !/^(?:HOST|LOG_LEVEL)$/.test(name) && !sources.includes(name)),
    ).toEqual([]);
  for (const role of ["api", "planner", "executor"]) {
    const { metadata, spec } = objectsOf(`${role}.yaml`)[0] ?? {};
    expect(metadata?.name).toBe(`planwright-${role}`);
    expect(spec?.template?.metadata.labels).toEqual(spec?.selector?.matchLabels);
    const { terminationGracePeriodSeconds = 0, containers = [] } = spec?.template?.spec ?? {};
    // SHUTDOWN_TIMEOUT_MS with its margin of 5 s, or that of the API with its pause of 5 s.
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(role === "api" ? 20 : 35);
    expect(containers[0]?.command.slice(-2)).toEqual(["--roles", role]);
    expect(containers[0]?.ports).toContainEqual({ name: "health", containerPort: 4010 });
  }
  const scalers = objectsOf("scale-by-due-work/scalers.yaml");
  expect(scalers.map(({ metadata }) => metadata.name)).toEqual(["planwright-planner", "planwright-executor"]);
});
