import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "../src/index.ts";

test("a free port can be listened on, and no outgoing connection can take it", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  for (const port of ports) expect(port).toBeLessThan(32_768);
  const server = createServer().listen(ports[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
});
