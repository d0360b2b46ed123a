import { createLogger } from "@planwright/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createCataloguePublisher } from "./tool-servers.ts";

const tool = (name: string) => ({ descriptor: { name, server: "s" }, digest: name });

/** A publisher over a store that refuses the first attempts, or all of one server. */
function publisherOver(refusals: number, refused?: string) {
  const published: string[][] = [];
  let left = refusals;
  const publisher = createCataloguePublisher({
    store: {
      async publishTools(server, tools) {
        left -= 1;
        if (left >= 0 || server === refused) throw new Error("the store is away");
        published.push(tools.map(({ digest }) => digest));
      },
    },
    onPublished: () => undefined,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  onTestFinished(() => publisher.stop());
  return { publisher, published };
}

test("publishes again until the store has the catalogue", async () => {
  const { publisher, published } = publisherOver(2);
  publisher.publish({ server: "s", tools: [tool("a")] });
  await publisher.published();
  expect(published).toEqual([["a"]]);
});

test("the newest tools of a server that changed them meanwhile are published last", async () => {
  const { publisher, published } = publisherOver(1);
  publisher.publish({ server: "s", tools: [tool("a")] });
  publisher.publish({ server: "s", tools: [tool("b")] });
  await publisher.published();
  expect(published.at(-1)).toEqual(["b"]);
});

test("a server whose tools cannot be stored does not hold up another one", async () => {
  const { publisher, published } = publisherOver(0, "refused");
  publisher.publish({ server: "refused", tools: [tool("a")] });
  publisher.publish({ server: "s", tools: [tool("b")] });
  await expect.poll(() => published).toEqual([["b"]]);
});

test("stopping ends the attempts", async () => {
  const { publisher, published } = publisherOver(Number.POSITIVE_INFINITY);
  publisher.publish({ server: "s", tools: [tool("a")] });
  publisher.stop();
  await publisher.published();
  expect(published).toEqual([]);
});
