import { expect, test } from "vitest";
import { ApiUnreachableError } from "./errors.ts";
import { sendAgain } from "./send-again.ts";

/** An operation whose first try fails as `fetch` does with this code of the system. */
function failingOnce(code: string) {
  let times = 0;
  return {
    times: () => times,
    async send() {
      times += 1;
      if (times > 1) return "done";
      const cause = new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
      throw new ApiUnreachableError("http://127.0.0.1:4000/graphql", code, cause);
    },
  };
}

test.each([
  ["whose connection is refused", "ECONNREFUSED", true],
  ["without a key whose connection is refused", "ECONNREFUSED", false],
  ["whose answer is lost", "ECONNRESET", true],
])("an operation %s is sent again", async (_what, code, isKeyed) => {
  const { send, times } = failingOnce(code);
  expect(await sendAgain(send, { isKeyed })).toBe("done");
  expect(times()).toBe(2);
});

test.each([
  ["without a key whose answer is lost", "ECONNRESET", false],
  ["to an address that does not exist", "ENOTFOUND", true],
])("an operation %s is not sent again", async (_what, code, isKeyed) => {
  const { send, times } = failingOnce(code);
  await expect(sendAgain(send, { isKeyed })).rejects.toThrow(ApiUnreachableError);
  expect(times()).toBe(1);
});
