/** The effect classes: what happens to a call whose outcome is unknown. */
export const EFFECT_CLASS: Readonly<Record<string, string>> = {
  K: "K: the tool honours the idempotency key, so the call can be sent again safely",
  R: "R: the call only reads or may be repeated",
  V: "V: another tool reports whether the call happened",
  U: "U: a call whose outcome is unknown is never sent again automatically",
};
