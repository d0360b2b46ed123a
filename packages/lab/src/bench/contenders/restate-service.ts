/** The diamond as a Restate service, as a separate process. */
import { openStep, requirePeer } from "./peer-packages.ts";

/** The part of the SDK's API that is used here. */
interface RestateSdk {
  service(definition: {
    name: string;
    handlers: Record<string, (context: Context) => Promise<unknown>>;
  }): object;
  serve(options: { services: object[]; port: number }): Promise<number>;
  RestatePromise: { all<T>(promises: Promise<T>[]): Promise<T[]> };
}
interface Context {
  run<T>(name: string, action: () => Promise<T>): Promise<T>;
}

// The SDK needs Promise.withResolvers, which Node 20 does not have.
Object.assign(Promise, {
  withResolvers: () => {
    let settle = {};
    const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
    return { promise, ...settle };
  },
});
const restate = requirePeer("@restatedev/restate-sdk") as RestateSdk;
const act = await openStep();

async function diamond(context: Context): Promise<object> {
  const step = (name: string) => context.run(name, () => act(name));
  const a = await step("a");
  const [b, c, d] = await restate.RestatePromise.all([step("b"), step("c"), step("d")]);
  const e = await step("e");
  return { a, b, c, d, e };
}

await restate.serve({
  services: [restate.service({ name: "plans", handlers: { diamond } })],
  port: Number(process.env["PORT"]),
});
