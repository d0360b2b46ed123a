import { createBenchClient } from "../../client/bench-client.ts";
import { type Latencies, latenciesOf, perSecond } from "../../measuring/latencies.ts";

/** Sends `count` mutations, each once, `atOnce` of them concurrently. */
export async function measureMutations(
  url: string,
  bodyOf: (index: number) => string,
  { count, atOnce }: { count: number; atOnce: number },
): Promise<Latencies & { acceptedPerSecond: number }> {
  const client = createBenchClient(url, atOnce);
  const durations: number[] = [];
  let next = 0;
  const beganAt = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = next++; index < count; index = next++) {
        const sentAt = performance.now();
        await client.send(bodyOf(index));
        durations.push(performance.now() - sentAt);
      }
    }),
  );
  const tookMs = performance.now() - beganAt;
  client.close();
  return { acceptedPerSecond: perSecond(count, tookMs), ...latenciesOf(durations) };
}
