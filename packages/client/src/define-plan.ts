/**
 * Plans whose tools, arguments and references the compiler checks, against the types that `planwright types` writes.
 *
 * What is checked: the name of each tool; each argument, by its name and type; each reference `<<step.path>>`: the
 * step must be in the plan, the path in its output, and what stands there must fit the argument. What only a run
 * knows (bounds of numbers, forms of texts) is left to the API.
 */

/** The types of one tool. */
export interface ToolTypes {
  arguments: unknown;
  output: unknown;
}

/** A plan before it is checked: what every dialect of objects with steps has. */
interface PlanShape {
  readonly steps: readonly StepShape[];
  readonly outputs?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

interface StepShape {
  readonly id: string;
  readonly tool?: string;
  readonly arguments?: unknown;
  readonly dependsOn?: readonly string[];
  readonly forEach?: {
    readonly as?: string;
    readonly do: { readonly tool: string; readonly arguments?: unknown };
    readonly [more: string]: unknown;
  };
  readonly [more: string]: unknown;
}

/**
 * Returns a plan unchanged. A wrong tool, argument or reference does not compile.
 * @typeParam Tools - an interface with {@link ToolTypes} for each tool by its name
 */
export type DefinePlan<Tools> = <const Plan extends PlanShape>(plan: Plan & CheckedPlan<Plan, Tools>) => Plan;

/**
 * Makes {@link DefinePlan} for a catalogue; the file of `planwright types` does it for its tools.
 * @example
 * const definePlan = planDefiner<Tools>();
 * const plan = definePlan({
 *   steps: [
 *     { id: "author", tool: "createAuthor", arguments: { name: "Ada", email: "ada@test.com" } },
 *     { id: "blog", tool: "createBlog", arguments: { authorId: "<<author._id>>", title: "Hi" } },
 *   ],
 * });
 */
export function planDefiner<Tools>(): DefinePlan<Tools> {
  return (plan) => plan;
}

/** What a plan must be, made from what it is: a part that is wrong has a type that it does not fit. */
type CheckedPlan<Plan extends PlanShape, Tools> = {
  readonly steps: CheckedSteps<Plan["steps"], Tools>;
  readonly outputs?: Plan["outputs"] extends readonly string[]
    ? readonly StepIds<Plan["steps"]>[]
    : CheckedValue<unknown, Plan["outputs"], Plan["steps"], Tools>;
};

type CheckedSteps<All extends Steps, Tools> = {
  readonly [Index in keyof All]: All[Index] & CheckedStep<All[Index], All, Tools>;
};
type Steps = readonly StepShape[];
type StepIds<All extends Steps> = All[number]["id"];

type CheckedStep<Step, All extends Steps, Tools> = {
  readonly dependsOn?: readonly StepIds<All>[];
} & (Step extends { readonly forEach: infer List }
  ? { readonly forEach: { readonly do: CheckedCall<CallOf<List>, All, Tools, AliasOf<List> | "index"> } }
  : CheckedCall<Step, All, Tools>);

type CallOf<List> = List extends { readonly do: infer Call } ? Call : never;
type AliasOf<List> = List extends { readonly as: infer Alias extends string } ? Alias : "item";

type CheckedCall<Call, All extends Steps, Tools, Alias extends string = never> = Call extends {
  readonly tool: infer Tool;
}
  ? Tool extends keyof Tools
    ? CheckedArguments<TypesOf<Tool, Tools>["arguments"], Call, All, Tools, Alias>
    : { readonly tool: Wrong<`no tool is named ${Tool & string}`> }
  : { readonly tool: keyof Tools };

type TypesOf<Tool extends keyof Tools, Tools> = Tools[Tool] extends infer Types extends ToolTypes
  ? Types
  : never;

/** Arguments may be left out where none is required. */
type CheckedArguments<Declared, Call, All extends Steps, Tools, Alias extends string> = Call extends {
  readonly arguments: infer Given;
}
  ? { readonly arguments: CheckedValue<Declared, Given, All, Tools, Alias> }
  : Record<never, never> extends Declared
    ? unknown
    : { readonly arguments: Declared };

/** A value where `Declared` is wanted: the value, a reference to one, or a text with references in it. */
type CheckedValue<
  Declared,
  Given,
  All extends Steps,
  Tools,
  Alias extends string = never,
> = Given extends string
  ? Given extends `${string}<<${string}`
    ? CheckedText<Declared, Given, All, Tools, Alias>
    : Fitting<Declared, Given>
  : Given extends readonly unknown[]
    ? unknown extends Declared
      ? { readonly [Index in keyof Given]: CheckedValue<unknown, Given[Index], All, Tools, Alias> }
      : { readonly [Index in keyof Given]: CheckedValue<ItemOf<Declared>, Given[Index], All, Tools, Alias> }
    : Given extends object
      ? unknown extends Declared
        ? { readonly [Name in keyof Given]: CheckedValue<unknown, Given[Name], All, Tools, Alias> }
        : CheckedObject<ObjectOf<Declared>, Given, All, Tools, Alias>
      : Fitting<Declared, Given>;

type Fitting<Declared, Given> = Given extends Declared ? Given : Expected<Declared>;

type CheckedObject<Declared, Given, All extends Steps, Tools, Alias extends string> = [Declared] extends [
  never,
]
  ? never
  : {
      readonly [Name in keyof Given]: Name extends keyof Declared
        ? CheckedValue<Declared[Name], Given[Name], All, Tools, Alias>
        : Wrong<`there is no argument ${Name & string}`>;
    } & { readonly [Name in RequiredNames<Declared>]: unknown };

type ItemOf<Declared> = Declared extends readonly (infer Item)[] ? Item : never;
type ObjectOf<Declared> = Declared extends readonly unknown[]
  ? never
  : Declared extends object
    ? Declared
    : never;
/** Names that are neither optional nor those of an index. */
type RequiredNames<Declared> = keyof {
  [Name in keyof Declared as string extends Name
    ? never
    : number extends Name
      ? never
      : undefined extends Declared[Name]
        ? never
        : Name]: unknown;
};

/** No value has this type: the compiler shows what would fit. */
interface Expected<Type> {
  readonly [PROBLEM]: Type;
}

/** No value has this type: the compiler shows its words. */
interface Wrong<Words extends string> {
  readonly [PROBLEM]: Words;
}
declare const PROBLEM: unique symbol;

/** A text that is one reference has the type of what it refers to; any other text stays a text. */
type CheckedText<
  Declared,
  Given extends string,
  All extends Steps,
  Tools,
  Alias extends string,
> = Given extends `<<${infer Reference}>>`
  ? Reference extends `${string}>>${string}`
    ? CheckedParts<Given, Given, All, Tools, Alias>
    : CheckedReference<Declared, Given, Reference, All, Tools, Alias>
  : CheckedParts<Given, Given, All, Tools, Alias>;

/** Every reference in a text. `\<<` is no reference. */
type CheckedParts<
  Given extends string,
  Rest extends string,
  All extends Steps,
  Tools,
  Alias extends string,
> = Rest extends `${infer Before}<<${infer Reference}>>${infer After}`
  ? Before extends `${string}\\`
    ? CheckedParts<Given, After, All, Tools, Alias>
    : CheckedReference<unknown, Given, Reference, All, Tools, Alias> extends Given
      ? CheckedParts<Given, After, All, Tools, Alias>
      : CheckedReference<unknown, Given, Reference, All, Tools, Alias>
  : Given;

type CheckedReference<
  Declared,
  Given extends string,
  Reference extends string,
  All extends Steps,
  Tools,
  Alias extends string,
> =
  SplitName<Reference> extends [infer Root extends string, infer Path extends string]
    ? Root extends Alias
      ? Given
      : [StepNamed<Root, All>] extends [never]
        ? Wrong<`no step is named ${Root}`>
        : At<OutputOf<StepNamed<Root, All>, Tools>, Path> extends infer Found
          ? Found extends Missing
            ? Wrong<`the output of ${Root} has no ${Path}`>
            : true extends Fits<Found, Declared>
              ? Given
              : Wrong<`what <<${Reference}>> refers to does not fit here`>
          : never
    : Given;

/** The step with this id, or else the steps with this tool. */
type StepNamed<Root extends string, All extends Steps> =
  Root extends StepIds<All>
    ? Extract<All[number], { readonly id: Root }>
    : Extract<All[number], { readonly tool: Root }>;

type OutputOf<Step, Tools> = Step extends { readonly forEach: { readonly do: { readonly tool: infer Tool } } }
  ? ListOutput<OutputOfTool<Tool, Tools>>
  : Step extends { readonly tool: infer Tool }
    ? OutputOfTool<Tool, Tools>
    : unknown;
type OutputOfTool<Tool, Tools> = Tool extends keyof Tools ? TypesOf<Tool, Tools>["output"] : unknown;

/** The output of a step with forEach. */
interface ListOutput<Item> {
  results: {
    index: number;
    key?: unknown;
    status: "ok" | "error" | "skipped" | "in_doubt";
    data?: Item;
    error?: { code: string; message: string };
  }[];
  summary: { ok: number; error: number };
}

/** There is nothing at a path. */
interface Missing {
  readonly [MISSING]: true;
}
declare const MISSING: unique symbol;

/** What stands at a path of an output: `.name`, `["any key"]`, `[0]`, `.0`, `[*]`. */
type At<Value, Path extends string> = Path extends ""
  ? Value
  : Path extends `[*]${infer Rest}`
    ? unknown extends Value
      ? unknown
      : NonNullable<Value> extends readonly (infer Item)[]
        ? Each<At<Item, Rest>>
        : Missing
    : Path extends `["${infer Key}"]${infer Rest}`
      ? At<Field<Value, Key>, Rest>
      : Path extends `[${infer Key}]${infer Rest}`
        ? At<Field<Value, Key>, Rest>
        : Path extends `.${infer Names}`
          ? SplitName<Names> extends [infer Name extends string, infer Rest extends string]
            ? At<Field<Value, Name>, Rest>
            : unknown
          : unknown;

type Each<Found> = Found extends Missing ? Missing : Found[];

/** A name, and the path behind it. */
type SplitName<Text extends string> = Text extends `${infer Name}.${infer Rest}`
  ? Name extends `${infer Before}[${infer Inside}`
    ? [Before, `[${Inside}.${Rest}`]
    : [Name, `.${Rest}`]
  : Text extends `${infer Name}[${infer Rest}`
    ? [Name, `[${Rest}`]
    : [Text, ""];

type Field<Value, Name extends string> = Value extends Missing
  ? Missing
  : unknown extends Value
    ? unknown
    : [NonNullable<Value>] extends [never]
      ? Missing
      : FieldOf<NonNullable<Value>, Name>;

/** Of a union every member is looked at: one that has the field is enough. */
type FieldOf<Value, Name extends string> =
  Exclude<FieldOfOne<Value, Name>, Missing> extends infer Found
    ? [Found] extends [never]
      ? Missing
      : Found
    : never;
type FieldOfOne<Value, Name extends string> = Value extends readonly (infer Item)[]
  ? Name extends `${number}`
    ? Item
    : Missing
  : Name extends keyof Value
    ? Value[Name]
    : Missing;

/** True when a value of one of the types may be taken where the other is wanted. */
type Fits<Found, Declared> = unknown extends Found
  ? true
  : unknown extends Declared
    ? true
    : string extends Declared
      ? Found extends object
        ? false
        : true
      : Found extends Declared
        ? true
        : Declared extends Found
          ? true
          : false;
