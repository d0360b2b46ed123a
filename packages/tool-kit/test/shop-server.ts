/** `MONGODB_URL=… node …`: the tools of the tests over stdio, in a process of its own. */
import { MongoClient } from "mongodb";
import { serveStdio } from "../src/index.ts";
import { shopTools } from "./shop-tools.ts";

const url = process.env["MONGODB_URL"];
// Without the setting it ends, and its compiled code is stored.
if (url !== undefined) {
  const client = await MongoClient.connect(url, { appName: process.env["APP_NAME"] ?? "shop" });
  process.stdin.once("end", () => void client.close());
  serveStdio(shopTools(client.db()), { name: "shop" });
}
