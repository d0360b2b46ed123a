/**
 * Setup file of all tests: ends a worker when its test run was killed. Otherwise the worker would stay until
 * the timeout of its test, with every process that the test has started.
 */
if (process.listenerCount("disconnect") === 0) process.once("disconnect", () => process.exit());
