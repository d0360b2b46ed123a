import type { Logger } from "./create-logger.ts";

/** Steps that end the parts of a service. */
export interface StopSteps {
  /**
   * Adds a step. Steps run one after another in the order of adding; a failed one is logged, and the others
   * still run.
   */
  add(name: string, step: () => unknown): void;
  /** Adds a step that runs other steps: those of all arguments at the same time. */
  addTogether(...others: readonly StopSteps[]): void;
  /** Runs the steps; further calls wait for the first. Resolves to false when a step failed; never rejects. */
  run(): Promise<boolean>;
  /** Names the step that runs now; "" before the first. */
  current(): string;
}

/** An empty list of steps. */
export function createStopSteps(logger: Pick<Logger, "error">): StopSteps {
  const steps: { name: () => string; run: () => Promise<boolean> }[] = [];
  let current = (): string => "";
  let running: Promise<boolean> | undefined;

  async function runAll(): Promise<boolean> {
    let isClean = true;
    for (const { name, run } of steps) {
      current = name;
      isClean = (await run()) && isClean;
    }
    return isClean;
  }
  return {
    add(name, step) {
      const run = async (): Promise<boolean> => {
        try {
          await step();
          return true;
        } catch (error) {
          logger.error({ err: error, step: name }, "a step of stopping failed");
          return false;
        }
      };
      steps.push({ name: () => name, run });
    },
    addTogether(...others) {
      steps.push({
        name: () => others.flatMap((other) => other.current() || []).join(", "),
        run: async () => (await Promise.all(others.map((other) => other.run()))).every(Boolean),
      });
    },
    run: () => (running ??= runAll()),
    current: () => current(),
  };
}

/** Options of {@link createShutdown}. */
export interface ShutdownOptions {
  logger: Pick<Logger, "info" | "error" | "fatal">;
  /**
   * Timeout of all steps together, in milliseconds; then the process ends without the remaining steps.
   * Default 30,000.
   */
  timeoutMs?: number;
  /** The process to observe and to end; default: this one. */
  process?: Pick<NodeJS.Process, "on" | "exit">;
}

/** The shutdown of a service. */
export interface Shutdown extends Omit<StopSteps, "run"> {
  /** Runs the steps and ends the process. Further calls wait for the first. @param exitCode - default 0 */
  run(reason: string, exitCode?: number): Promise<void>;
  /** Aborted when the shutdown begins; for `/readyz` and for long waits. */
  readonly signal: AbortSignal;
}

/**
 * Shuts the process down on SIGTERM and SIGINT (exit code 0), and on an uncaught error (logged as fatal, exit
 * code 1): its state is unknown then, so other processes take over. A second signal ends the process at once; the first
 * one after `run` does not, because a terminal signals all processes of a group.
 */
export function createShutdown(options: ShutdownOptions): Shutdown {
  const { logger, timeoutMs = 30_000, process: process_ = process } = options;
  const steps = createStopSteps(logger);
  const controller = new AbortController();
  let running: Promise<void> | undefined;

  async function runSteps(reason: string, exitCode: number): Promise<void> {
    logger.info({ reason }, "stopping");
    controller.abort();
    const deadline = setTimeout(() => {
      logger.error({ step: steps.current(), timeoutMs }, "stopping took too long");
      process_.exit(1);
    }, timeoutMs);
    const isClean = await steps.run();
    clearTimeout(deadline);
    logger.info({ reason }, "stopped");
    process_.exit(!isClean && exitCode === 0 ? 1 : exitCode);
  }
  const run = (reason: string, exitCode = 0): Promise<void> => {
    running ??= runSteps(reason, exitCode);
    return running;
  };
  let isSignalled = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (isSignalled) process_.exit(1);
    isSignalled = true;
    void run(name);
  };
  const onError = (error: unknown) => {
    logger.fatal({ err: error }, "uncaught error");
    void run("error", 1);
  };
  process_.on("SIGTERM", onSignal);
  process_.on("SIGINT", onSignal);
  process_.on("uncaughtException", onError);
  process_.on("unhandledRejection", onError);
  return { ...steps, run, signal: controller.signal };
}
