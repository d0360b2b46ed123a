import { expect, test } from "vitest";
import { createServerSignIn, type SignIn } from "./sign-in.ts";

test("a token is masked each time that it is sent, however many other secrets the server got meanwhile", async () => {
  const url = "http://vault.test/mcp";
  const signIn: SignIn = { url, tokens: { access_token: "token-of-ann", token_type: "Bearer" } };
  const masked: string[] = [];
  const { provider } = createServerSignIn({
    server: "vault",
    url,
    auth: { type: "oauth", grant: "authorization_code" },
    signIns: {
      redirectUrl: "http://planwright.test/sign-in/callback",
      fetch,
      read: async () => signIn,
      change: async (_server, work) => work(signIn),
    },
    addSecrets: (values) => void masked.push(...values),
  });
  for (const time of [1, 2]) {
    expect(await provider.token()).toBe("token-of-ann");
    expect(masked).toHaveLength(time);
  }
});
