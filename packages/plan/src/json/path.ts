/**
 * One segment of a path into a value: a field, an index (or a field with that number as its name), or all
 * items of a list.
 */
export type PathSegment =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "index"; readonly index: number }
  | { readonly type: "all" };

const PLAIN_KEY = /^[A-Za-z0-9_@-]+$/;
const NUMBER = /^[0-9]+$/;

/** The canonical text of a path: `.name`, `["any key"]`, `[0]`, `[*]`. */
export function printPath(path: readonly PathSegment[]): string {
  return path.map(printSegment).join("");
}

function printSegment(segment: PathSegment): string {
  switch (segment.type) {
    case "all":
      return "[*]";
    case "index":
      return `[${segment.index}]`;
    case "key":
      return PLAIN_KEY.test(segment.key) && !NUMBER.test(segment.key)
        ? `.${segment.key}`
        : `[${JSON.stringify(segment.key)}]`;
  }
}

/** The canonical text of a reference: `<<createAuthor._id>>`. */
export function printReference(root: string, path: readonly PathSegment[]): string {
  return `<<${root}${printPath(path)}>>`;
}

/** A path in a document for people: `steps[2].arguments.authorId`; keys that are not names are quoted. */
export function printPlace(keys: readonly (string | number)[]): string {
  let text = "";
  for (const key of keys) {
    if (typeof key === "number") text += `[${key}]`;
    else if (!/^[A-Za-z0-9_$-]+$/.test(key)) text += `[${JSON.stringify(key)}]`;
    else text += text === "" ? key : `.${key}`;
  }
  return text;
}
