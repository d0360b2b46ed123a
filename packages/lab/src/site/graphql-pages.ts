import {
  buildSchema,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  OperationTypeNode,
} from "graphql";
import { OPERATIONS } from "../../../../services/api/src/graphql/operations.ts";
import { SDL } from "../../../../services/api/src/graphql/sdl.ts";

/** The schema of the API, without its resolvers. */
export const SCHEMA = buildSchema(SDL);

const ROOTS: readonly [OperationTypeNode, title: string][] = [
  [OperationTypeNode.QUERY, "Queries"],
  [OperationTypeNode.MUTATION, "Mutations"],
  [OperationTypeNode.SUBSCRIPTION, "Subscriptions"],
];

/** Kinds of types, in the order of the page. */
const KINDS: readonly [title: string, fits: (type: GraphQLNamedType) => boolean][] = [
  ["Objects", (type) => isObjectType(type) || isInterfaceType(type) || isUnionType(type)],
  ["Inputs", isInputObjectType],
  ["Enums", isEnumType],
  ["Scalars", isScalarType],
];

/** What has a description: a type, a field, an argument, a value of an enum. */
interface Member {
  name: string;
  type?: GraphQLType;
  args?: readonly Member[];
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
  defaultValue?: unknown;
}

/** Every operation of the API, with its arguments and the scopes that a caller needs. */
export function operationsPage(): string {
  return [
    "# GraphQL operations",
    "",
    "Every query, mutation and subscription of the API with its arguments, made from the schema. What they return is in [GraphQL types](/graphql/types). [The API](/services/api#operations) has an example of each.",
    "",
    ...ROOTS.flatMap(([root, title]) => {
      const needs: Readonly<Record<string, { scopes: readonly string[] }>> = OPERATIONS[root];
      const fields = Object.values(SCHEMA.getRootType(root)?.getFields() ?? {});
      return [
        `## ${title}`,
        "",
        ...fields.flatMap((field) => {
          const scopes = (needs[field.name]?.scopes ?? []).map((scope) => `\`${scope}\``).join(" and ");
          return [
            `### ${field.name}`,
            "",
            descriptionOf({ ...field, args: [] }),
            "",
            `Returns ${typeText(field.type)}. Needs the scope ${scopes}.`,
            "",
            ...(field.args.length > 0 ? table("argument", field.args) : []),
          ];
        }),
      ];
    }),
  ].join("\n");
}

/** Every type of the API with its fields or values. */
export function typesPage(): string {
  const roots = new Set(ROOTS.map(([root]) => SCHEMA.getRootType(root)?.name));
  const types = Object.values(SCHEMA.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !roots.has(type.name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [
    "# GraphQL types",
    "",
    "Every type of the API with its fields or values, made from the schema. [GraphQL operations](/graphql/operations) use them.",
    "",
    ...KINDS.flatMap(([title, fits]) => [
      `## ${title}`,
      "",
      ...types
        .filter(fits)
        .flatMap((type) => [`### ${type.name}`, "", descriptionOf(type), "", ...membersOf(type)]),
    ]),
  ].join("\n");
}

function membersOf(type: GraphQLNamedType): string[] {
  if (isEnumType(type)) return table("value", type.getValues());
  if (isUnionType(type)) return [`One of ${type.getTypes().map(typeText).join(", ")}.`, ""];
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  return hasFields ? table("field", Object.values(type.getFields())) : [];
}

function table(kind: string, members: readonly Member[]): string[] {
  const hasTypes = members.some(({ type }) => type !== undefined);
  const head = hasTypes ? [kind, "type", "description"] : [kind, "description"];
  const rows = members.map((member) => [
    `\`${member.name}\``,
    ...(hasTypes ? [typeText(member.type)] : []),
    descriptionOf(member),
  ]);
  return [...[head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`), ""];
}

/** A type as code, with a link to its place on the page of types. */
function typeText(type: GraphQLType | undefined): string {
  if (!type) return "";
  const code = `\`${String(type)}\``;
  const named = getNamedType(type);
  return isSpecifiedScalarType(named) ? code : `[${code}](/graphql/types#${named.name.toLowerCase()})`;
}

/** The description of a member in one line, with its deprecation, its default, and the arguments of a field. */
function descriptionOf({ description, deprecationReason, defaultValue, args = [] }: Member): string {
  const parameters = args.map((arg) => `\`${arg.name}\` (${typeText(arg.type)}): ${descriptionOf(arg)}`);
  return [
    deprecationReason ? `**Deprecated.** ${plain(deprecationReason)}` : "",
    plain(description ?? ""),
    defaultValue === undefined ? "" : `Default: \`${JSON.stringify(defaultValue)}\`.`,
    parameters.length > 0 ? `Arguments: ${parameters.join(" ")}` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Text of the schema, which is not Markdown, as a cell of a table. */
const plain = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\\*_[\]|]/g, "\\$&");
