/**
 * Runs the audit suite of graphql-http for the GraphQL-over-HTTP specification against the service.
 */
import { testServers } from "@planwright/testing";
import { serverAudits } from "graphql-http";
import { beforeAll, describe, expect, test } from "vitest";
import { startApi } from "./api-process.ts";

let url: string;
beforeAll(async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const ends: (() => Promise<void>)[] = [];
  const settings = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix };
  url = await startApi(settings, (end) => void ends.push(end));
  return async () => {
    for (const end of ends) await end();
  };
});

describe("the audit finds no error", () => {
  test.each(serverAudits({ url: () => url }))("$id: $name", async (audit) => {
    const result = await audit.fn();
    expect([result.status, "reason" in result ? result.reason : ""]).not.toContain("error");
  });
});
