import { z } from "zod";

const MONGODB_URL = /^mongodb(\+srv)?:\/\/[^\s/]+(\/\S*)?$/;
// A path, a scheme or a list would be stored as a name that no request ever has.
const HOST_NAME = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/;

/**
 * The address of MongoDB. It may name several hosts, so it is not a URL by the web's rules. It may contain a
 * password and is never shown.
 */
export const MongodbUrlSchema = z
  .string()
  .max(10_000)
  .regex(
    MONGODB_URL,
    "must be the address of MongoDB, such as mongodb://127.0.0.1:27017/planwright?replicaSet=rs0",
  );

/** The address of Redis. It may contain a password and is never shown. */
export const RedisUrlSchema = z
  .string()
  .max(10_000)
  .refine(isRedisUrl, "must be the address of Redis, such as redis://127.0.0.1:6379");

/** A name by which clients reach a server, without scheme, port and path; IPv6 addresses in brackets. */
export const HostNameSchema = z
  .string()
  .max(255)
  .regex(
    HOST_NAME,
    "must be names of hosts with commas between them, such as tools.example.org: without http://, port and path",
  );

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return (protocol === "redis:" || protocol === "rediss:") && hostname !== "";
}
