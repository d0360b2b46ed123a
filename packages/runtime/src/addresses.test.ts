import { expect, test } from "vitest";
import { HostNameSchema, MongodbUrlSchema, RedisUrlSchema } from "./parse-settings.ts";

test.each([
  [HostNameSchema, ["blog-tools", "plans.example.org", "127.0.0.1", "[::1]", "my_host"]],
  [
    MongodbUrlSchema,
    ["mongodb://a:1,b:2/x?replicaSet=rs0", "mongodb+srv://u:p@c.example.org", "mongodb://h/?tls=true"],
  ],
  [RedisUrlSchema, ["redis://127.0.0.1", "rediss://:p@r.example.org:6380/0", "redis://[::1]:6379"]],
])("valid names of hosts and addresses of servers are accepted unchanged", (schema, values) => {
  for (const value of values) expect(schema.parse(value)).toBe(value);
});

test.each([
  [HostNameSchema, ["a/b", "http://a", "a:80", "a b", ""]],
  [MongodbUrlSchema, ["foo", "mongodb://", "http://127.0.0.1", "mongodb:///db"]],
  [RedisUrlSchema, ["foo", "redis://", "redis://h:port", "http://127.0.0.1", "127.0.0.1:6379"]],
])("invalid ones are refused", (schema, values) => {
  expect(values.filter((value) => schema.safeParse(value).success)).toEqual([]);
});
