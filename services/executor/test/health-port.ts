import { freePort } from "@planwright/local";

/** The health port of an executor that is started with {@link HealthPort.env}. */
export interface HealthPort {
  env: { HEALTH_PORT: string };
  /** The URL of a path there. */
  at(path: string): string;
  /** The answer of `/readyz`: status and body; null while nothing listens. */
  ready(): Promise<[number, unknown] | null>;
  /**
   * Reads `/metrics`. @returns the value of a series, named without the label that all series have; 0 if
   * missing
   */
  scrape(): Promise<(name: string) => number>;
}

/** Takes a free port for the health server of one executor. */
export async function healthPort(): Promise<HealthPort> {
  const port = String(await freePort());
  const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
  return {
    env: { HEALTH_PORT: port },
    at,
    async ready() {
      const response = await fetch(at("/readyz")).catch(() => null);
      return response && [response.status, await response.json()];
    },
    async scrape() {
      const text = await (await fetch(at("/metrics"))).text();
      const series = new Map(
        text.split("\n").map((line): [string, string] => {
          const [name = "", value = ""] = line
            .replace(/,?service="(?:executor|planwright)"/, "")
            .split(/ (?=\S+$)/);
          return [name.replace("{}", "").replace("{,", "{"), value];
        }),
      );
      return (name) =>
        Number(series.get(name.startsWith("planwright_") ? name : `planwright_executor_${name}`) ?? 0);
    },
  };
}
