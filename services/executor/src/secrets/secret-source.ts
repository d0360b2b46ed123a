import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SecretNameSchema } from "@planwright/plan";

/** Where the values of secrets are stored. */
export interface SecretLocations {
  /** A folder with one file for each secret, as Docker and Kubernetes mount them. Default: none. */
  directory?: string | undefined;
  /** Variables of the environment; those named `PLANWRIGHT_SECRET_...` are secrets. Default: none. */
  variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Reads the values of secrets. */
export interface SecretSource {
  /** The current value, or why there is none: the end of a sentence that helps an operator. */
  read(name: string): Promise<{ value: string } | { missing: string }>;
}

/** Longest value, in characters. */
const MAX_LENGTH = 65_536;

/**
 * Reads a secret at each use, so that a replaced file takes effect at once. A file overrides a variable; one
 * line break at the end of a file is not part of the value.
 */
export function createSecretSource({ directory, variables = {} }: SecretLocations): SecretSource {
  return {
    async read(name) {
      // The name of a secret is also a file name, so a name that leads to another folder must be rejected.
      if (!SecretNameSchema.safeParse(name).success) return { missing: "its name is not valid for a secret" };
      const file = directory === undefined ? {} : await readText(join(directory, name));
      if (file.failure !== undefined) return { missing: `its file cannot be read (${file.failure})` };
      const variable = variableOf(name);
      const value =
        file.text?.replace(/\r?\n$/, "") ??
        (Object.hasOwn(variables, variable) ? variables[variable] : undefined);
      if (value === undefined) {
        const inFolder = directory === undefined ? "set SECRETS_DIR to a folder with" : "put";
        return {
          missing: `${inFolder} a file ${name}${directory === undefined ? "" : " into SECRETS_DIR"}, or set ${variable}`,
        };
      }
      if (value === "") return { missing: "it is empty" };
      return value.length > MAX_LENGTH
        ? { missing: `it is longer than ${MAX_LENGTH} characters` }
        : { value };
    },
  };
}

/** `crm-key` is PLANWRIGHT_SECRET_CRM_KEY. */
function variableOf(name: string): string {
  return `PLANWRIGHT_SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

/** Both fields are absent when there is no such file. @returns the code of the error in `failure` */
async function readText(file: string): Promise<{ text?: string; failure?: string }> {
  try {
    return { text: await readFile(file, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    return code === "ENOENT" ? {} : { failure: code };
  }
}
