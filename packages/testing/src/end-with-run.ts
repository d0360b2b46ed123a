/**
 * Setup file of all tests: a worker whose test run was killed ends too. Otherwise it would stay until the
 * timeout of its test, with every process that the test has started.
 */
if (process.listenerCount("disconnect") === 0) process.once("disconnect", () => process.exit());
