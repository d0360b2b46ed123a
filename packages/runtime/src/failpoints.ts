import { CodedError } from "@planwright/plan";
import { z } from "zod";

/** What happens at a failpoint: the process dies, freezes (as with SIGSTOP), or the operation throws. */
export type FailpointAction = "kill" | "pause" | "error";

/** A failpoint made the operation fail. */
export class FailpointError extends CodedError<{ failpoint: string }> {
  readonly code = "FAILPOINT";
  readonly retryable = true;
  constructor(failpoint: string) {
    super(`Failed on purpose at ${failpoint}`, { failpoint });
  }
}

/** The setting FAILPOINT is malformed, or names an unknown place. */
export class FailpointInvalidError extends CodedError<{ value: string }> {
  readonly code = "FAILPOINT_INVALID";
  readonly retryable = false;
  constructor(value: string, known: readonly string[]) {
    super(
      `FAILPOINT=${value} is not {place}={kill|pause|error}[:{milliseconds}][@{nth time}]; places: ${known.join(", ")}`,
      { value },
    );
  }
}

/** Names of the places before and after methods of a port: `{name}.before` and `{name}.after`. */
export type FailpointNames<Port> = { readonly [method in keyof Port]?: string };

/** Puts failpoints around methods of ports. Without a setting the ports are not changed. */
export interface Failpoints {
  around<Port extends object>(port: Port, names: FailpointNames<Port>): Port;
}

/** The failpoints around the store operations of a worker's heartbeat. */
export function heartbeatFailpoints<Service extends string>(service: Service) {
  return { addWorker: `${service}.live`, beat: `${service}.beat`, takeFromDead: `${service}.take` } as const;
}

/** The failpoints around the store operations of a worker's leases. */
export function leaseFailpoints<Service extends string>(service: Service) {
  return {
    findHeld: `${service}.held`,
    releaseUnheld: `${service}.release-unheld`,
    recordSurvived: `${service}.survived`,
    findInTurns: `${service}.sweep`,
  } as const;
}

const SettingSchema = z.object({
  place: z.string(),
  action: z.enum(["kill", "pause", "error"]),
  pauseMs: z.coerce.number().int().min(1).max(60_000).default(3_000),
  nth: z.coerce.number().int().min(1).max(1_000_000).default(1),
});
const SETTING = /^(?<place>[a-z.-]+)=(?<action>[a-z]+)(?::(?<pauseMs>\d+))?(?:@(?<nth>\d+))?$/;

/**
 * Reads the setting FAILPOINT, such as `executor.result.before=kill@2`: the process dies when a result is
 * about to be written for the second time. Each setting acts once.
 * @param stderr - of the process, told of the failpoint when it acts; what it writes to a pipe is there before the process dies
 * @param ports - the places of all ports of the service, by method
 * @throws {FailpointInvalidError}
 */
export function createFailpoints(
  setting: string | undefined,
  stderr: { write(text: string): unknown },
  ...ports: readonly Readonly<Record<string, string>>[]
): Failpoints {
  if (setting === undefined || setting === "") return { around: (port) => port };
  const names = ports.flatMap((port) => Object.values(port));
  const places = names.flatMap((name) => [`${name}.before`, `${name}.after`]);
  const parsed = SettingSchema.safeParse({ ...SETTING.exec(setting)?.groups });
  if (!parsed.success || !places.includes(parsed.data.place)) {
    throw new FailpointInvalidError(setting, places);
  }
  const { place, action, pauseMs, nth } = parsed.data;
  let reached = 0;

  function hit(name: string): void {
    if (name !== place) return;
    reached += 1;
    if (reached !== nth) return;
    stderr.write(`failpoint ${setting}\n`);
    if (action === "error") throw new FailpointError(name);
    if (action === "kill") process.kill(process.pid, "SIGKILL");
    freeze(action === "kill" ? 60_000 : pauseMs);
  }

  return {
    around(port, names) {
      const nameOf = new Map<PropertyKey, string>();
      for (const [method, name] of Object.entries(names)) {
        if (typeof name === "string") nameOf.set(method, name);
      }
      return new Proxy(port, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property);
          const name = nameOf.get(property);
          if (name === undefined || typeof value !== "function") return value;
          return (...args: unknown[]) => {
            hit(`${name}.before`);
            const result: unknown = Reflect.apply(value, target, args);
            if (!(result instanceof Promise)) {
              hit(`${name}.after`);
              return result;
            }
            return result.then((answer: unknown) => {
              hit(`${name}.after`);
              return answer;
            });
          };
        },
      });
    },
  };
}

/** Blocks the whole process, including timers and connections, as if its virtual machine were stopped. */
function freeze(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
