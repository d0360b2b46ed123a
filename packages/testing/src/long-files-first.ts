import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest, as they mostly wait for processes, leases and timers, in the order in which they start. Started last, one
 * of them alone would be left at the end while the cores have nothing to do. Whole systems, whose commands have to answer in time,
 * come before the files that kill processes by the dozen, so that not all of those run beside them.
 */
const LONG_FILES: readonly string[] = [
  "packages/cli/test/planted-problems.test.ts",
  "packages/cli/test/commands.test.ts",
  "packages/cli/test/readme.test.ts",
  "packages/local/test/first-hour.test.ts",
  "packages/local/test/readme.test.ts",
  "services/executor/test/failpoints.test.ts",
  "services/planner/test/failpoints.test.ts",
  "services/api/test/bad-input/inputs.test.ts",
  "services/executor/test/output-memory.test.ts",
  "services/api/test/failpoints.test.ts",
  "services/executor/test/limits.test.ts",
  "services/planner/test/replan-failpoints.test.ts",
];

/** Vitest's order of files, which goes project by project, but with the longest files of all projects first. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG_FILES.indexOf(relative(root, moduleId));
      return at === -1 ? LONG_FILES.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}
