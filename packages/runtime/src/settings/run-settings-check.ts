import { CodedError } from "@planwright/plan";

/**
 * Checks the settings of a service without starting it. Ends with exit code 0, or with 1 and one message on
 * standard error that says what to change. An error that is not a {@link CodedError} is a bug of the check
 * and is rethrown.
 * @param check - reads every setting that a start would read, and throws for one that cannot work
 */
export async function runSettingsCheck(check: () => unknown): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
