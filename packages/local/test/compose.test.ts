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

test("every service of docker-compose.yml logs with a largest size and a number of files", () => {
  expect(top.get("x-logging")).toMatch(/max-size: \d+[km], max-file: "\d+"/);
  expect(top.get("x-service")).toMatch(/^ {2}logging: \*logging$/m);
  expect([...services.keys()]).toEqual(["mongo", "redis", "blog-tools", "executor", "planner", "api"]);
  for (const [name, part] of services)
    expect([name, part]).toEqual([
      name,
      expect.stringMatching(/^ {4}(?:<<: \*service|logging: \*logging)$/m),
    ]);
});
