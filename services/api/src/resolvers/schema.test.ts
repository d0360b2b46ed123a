import { PlanStatusSchema, RequestStatusSchema, StepStatusSchema } from "@planwright/plan";
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  validateSchema,
} from "graphql";
import { expect, test } from "vitest";
import { SDL } from "../graphql/sdl.ts";
import { createSchema } from "./executable-schema.ts";

test("the schema is valid", () => {
  expect(validateSchema(buildSchema(SDL))).toEqual([]);
});

test.each([
  ["RequestStatus", RequestStatusSchema.options],
  ["PlanStatus", PlanStatusSchema.options],
  ["StepStatus", StepStatusSchema.options],
] as const)("%s has the statuses of its table, in the same order", (name, statuses) => {
  const type = buildSchema(SDL).getType(name);
  expect(isEnumType(type) && type.getValues().map((value) => value.name)).toEqual(statuses);
});

test("every field has a resolver or a field of the document, and every resolver has a field", () => {
  expect(() => createSchema()).not.toThrow();
});

test("every type, field, argument and enum value is described", () => {
  const types = Object.values(buildSchema(SDL).getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const named = types.flatMap((type) => [
    { name: type.name, description: type.description },
    ...partsOf(type),
  ]);
  expect(named.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
});

/** The parts of a type, by full name: `Request.status`, `Query.request(requestId)`. */
function partsOf(type: GraphQLNamedType): { name: string; description: string | null | undefined }[] {
  const { name } = type;
  if (isEnumType(type)) {
    return type.getValues().map((value) => ({ ...value, name: `${name}.${value.name}` }));
  }
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map((field) => ({ ...field, name: `${name}.${field.name}` }));
  }
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    { name: `${name}.${field.name}`, description: field.description },
    ...field.args.map((argument) => ({
      name: `${name}.${field.name}(${argument.name})`,
      description: argument.description,
    })),
  ]);
}
