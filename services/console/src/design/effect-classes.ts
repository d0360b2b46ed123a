/** What the letters promise of a call whose fate is unknown. */
export const EFFECT_CLASS: Readonly<Record<string, string>> = {
  K: "K: the tool honours our key, so the call is sent again safely",
  R: "R: the call only reads or may be repeated",
  V: "V: another tool tells whether the call happened",
  U: "U: a call whose fate is unknown is never sent again by itself",
};
