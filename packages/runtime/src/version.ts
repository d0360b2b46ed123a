/** The version of Planwright, as in the package.json of the repository; a bundled service cannot read that file. */
export const VERSION = "0.1.0";
