import { relative } from "node:path";
import {
  BaseSequencer,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type TestSuite,
} from "vitest/node";

/** What failed, with the errors that Vitest has for it. */
interface Failed {
  fullName?: string;
  errors: readonly { message: string; diff?: string; stacks?: readonly { file: string; line: number }[] }[];
}

/** After so many files a run says how far it is. */
const FILES_BETWEEN_LINES = 20;

/**
 * Shows a failure when it happens, beside the reporter that shows all of them at the end; says how far the run is;
 * and ends it with one plain line, `N passed, N failed`, for any reader of logs.
 */
export default class RunReporter implements Reporter {
  #files = 0;
  #ended = 0;
  #failures = 0;

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length;
    this.#ended = 0;
    this.#failures = 0;
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === "failed") this.#show(test.module, { fullName: test.fullName, errors });
  }

  onTestSuiteResult(suite: TestSuite): void {
    this.#show(suite.module, { fullName: suite.fullName, errors: suite.errors() });
  }

  onTestModuleEnd(module: TestModule): void {
    this.#show(module, { errors: module.errors() });
    this.#ended += 1;
    if (this.#ended % FILES_BETWEEN_LINES !== 0 || process.stdout.isTTY) return;
    process.stdout.write(`${this.#ended} of ${this.#files} files, ${this.#failures} failures\n`);
  }

  #show({ project, moduleId }: TestModule, { fullName, errors }: Failed): void {
    const name = [relative(project.vitest.config.root, moduleId), fullName].filter(Boolean).join(" > ");
    for (const { message, diff, stacks } of errors) {
      this.#failures += 1;
      const [at] = stacks ?? [];
      const place = at && `    at ${at.file}:${at.line}`;
      process.stderr.write(`\n${["FAILED", name, message, diff, place].filter(Boolean).join("\n")}\n\n`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly unknown[]): void {
    let passed = 0;
    /** Left to the other one of `npm test` and `npm run proof`. */
    let left = 0;
    const isProof = process.env["TESTS"] === "proof";
    // An error outside of all tests also fails the run.
    let failed = strayErrors.length;
    let skipped = 0;
    for (const module of modules) {
      // A file that cannot be loaded has no tests, but fails.
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else if (test.tags.includes("proof") !== isProof) left += 1;
        else skipped += 1;
      }
    }
    const skippedPart = skipped > 0 ? `, ${skipped} skipped` : "";
    const leftPart = left > 0 && !isProof ? `, ${left} left to npm run proof` : "";
    process.stdout.write(`\n${passed} passed, ${failed} failed${skippedPart}${leftPart}\n`);
  }
}

/**
 * The files that take longest, in the order in which they start. They mostly wait for processes, leases and
 * timers. If they started last, one of them would run alone at the end while the cores are idle. Tests of
 * whole systems come first, because their commands must answer in time: files that kill dozens of processes
 * should not all run at the same time.
 */
const LONG_FILES: readonly string[] = [
  "packages/cli/test/planted-problems.test.ts",
  "packages/cli/test/commands.test.ts",
  "packages/cli/test/readme.test.ts",
  "packages/local/test/first-hour.test.ts",
  "packages/local/test/readme.test.ts",
  "services/executor/test/output-memory.test.ts",
  "services/planner/test/replan-loop.test.ts",
  "services/planner/test/failpoints.test.ts",
  "services/executor/test/failpoints.test.ts",
  "services/executor/test/limits.test.ts",
  "services/planner/test/planner.test.ts",
  "services/api/test/bad-input/inputs.test.ts",
  "services/planner/test/replan-failpoints.test.ts",
  "services/executor/test/may-have-acted.test.ts",
  "services/api/test/failpoints.test.ts",
  "packages/local/test/first-request.test.ts",
  "packages/queue/test/limits.test.ts",
];

/** Vitest's order of files, project by project, but with the longest files of all projects first. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG_FILES.indexOf(relative(root, moduleId));
      return at === -1 ? LONG_FILES.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
