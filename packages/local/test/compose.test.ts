import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

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
  expect([...services.keys()]).toEqual(["mongo", "redis", "blog-tools", "executor", "planner", "api"]);
  for (const [name, part] of services)
    expect([name, part]).toEqual([
      name,
      expect.stringMatching(/^ {4}(?:<<: \*service|logging: \*logging)$/m),
    ]);
});

test("the image of the API contains the built console that it serves", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const [build = "", dependencies = "", image = ""] = read("infra/docker/service.Dockerfile")
    .split(/^(?=FROM )/m)
    .slice(1);
  // The first stage builds everything; the next stages copy the built files with their service.
  expect(build).toMatch(/^COPY services \.\/services$/m);
  expect(build).toMatch(/^RUN npm ci --loglevel=error && npx turbo run build /m);
  expect(dependencies).toMatch(/^COPY --from=build \/app\/services \.\/services$/m);
  expect(image).toMatch(/^COPY --from=dependencies --chown=node:node \/app \.\/$/m);
  expect(JSON.parse(read("services/console/package.json")).scripts.build).toMatch(/^vite build/);
  // The API finds the folder by the name of the package.
  expect(JSON.parse(read("services/api/package.json")).dependencies).toHaveProperty("@planwright/console");
  expect(services.get("api")).toMatch(
    /dockerfile: infra\/docker\/service\.Dockerfile, args: \{ SERVICE: api \}/,
  );
  expect(services.get("api")).toMatch(/ports: \["127\.0\.0\.1:\$\{PLANWRIGHT_PORT:-4000\}:4000"\]/);
});
