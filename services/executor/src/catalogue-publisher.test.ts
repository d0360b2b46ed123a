import { createLogger } from "@planwright/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createCataloguePublisher } from "./tool-servers.ts";

const tool = (name: string) => ({ descriptor: { name, server: "s" }, digest: name });

/** A publisher over a store that refuses the first attempts. */
function publisherOver(refusals: number) {
  const published: string[][] = [];
  let left = refusals;
  const publisher = createCataloguePublisher({
    store: {
      async publishTools(_server, tools) {
        left -= 1;
        if (left >= 0) throw new Error("the store is away");
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

test("stopping ends the attempts", async () => {
  const { publisher, published } = publisherOver(Number.POSITIVE_INFINITY);
  publisher.publish({ server: "s", tools: [tool("a")] });
  publisher.stop();
  await publisher.published();
  expect(published).toEqual([]);
});
