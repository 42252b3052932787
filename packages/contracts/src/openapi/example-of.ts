import { EXAMPLE_TIME, exampleId, exampleValues } from './example-values.ts';
import type { JsonSchema } from './schemas.ts';

const COMPONENTS = '#/components/schemas/';
const ID_PATTERN = /^\^([a-z]+)_\[/;
const BASE64URL_PATTERN = '^[A-Za-z0-9_-]+$';

export interface ExampleOptions {
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** True for requests, which name the required fields only. */
  readonly isMinimal: boolean;
}

/** Creates an example of a schema: known values by field name, otherwise the simplest value that fits. */
export const exampleOf = (schema: JsonSchema, options: ExampleOptions): unknown => fieldExample(schema, {}, options);

/** Creates an example of a field or parameter. */
export const exampleOfField = (name: string, schema: JsonSchema, components: ExampleOptions['components']): unknown =>
  fieldExample(schema, { name }, { components, isMinimal: true });

interface Field {
  /** Name of the schema that has the field. */
  readonly owner?: string | undefined;
  readonly name?: string | undefined;
}

const fieldExample = (given: JsonSchema, { owner, name }: Field, options: ExampleOptions): unknown => {
  const { schema, component } = dereference(given, options.components);
  for (const key of [`${owner}.${name}`, name ?? '']) {
    const known = exampleValues[key];
    if (known !== undefined && fits(known, schema)) return known;
  }
  if (schema['const'] !== undefined) return schema['const'];
  const [first] = asList(schema['enum']);
  if (first !== undefined) return first;
  const [alternative] = asSchemas(schema['anyOf']);
  if (alternative !== undefined) return fieldExample(alternative, { owner, name }, options);
  return ofType(schema, { owner: component ?? owner, name }, options);
};

const ofType = (schema: JsonSchema, field: Field, options: ExampleOptions): unknown => {
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, field, options);
    case 'array':
      return isSchema(schema['items']) ? [fieldExample(schema['items'], field, options)] : [];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return Math.max(0, Number(schema['minimum'] ?? 0));
    case 'string':
      return textOf(schema);
    default:
      return {};
  }
};

const objectOf = (schema: JsonSchema, { owner }: Field, options: ExampleOptions): Record<string, unknown> => {
  const required = asList(schema['required']);
  const fields = Object.entries(isSchema(schema['properties']) ? schema['properties'] : {});
  return Object.fromEntries(
    fields
      .filter(([name]) => !options.isMinimal || required.includes(name))
      .map(([name, field]) => [name, fieldExample(isSchema(field) ? field : {}, { owner, name }, options)]),
  );
};

const textOf = ({ format, pattern }: JsonSchema): string => {
  if (format === 'date-time') return EXAMPLE_TIME;
  if (format === 'date') return EXAMPLE_TIME.slice(0, 'yyyy-mm-dd'.length);
  const prefix = typeof pattern === 'string' ? ID_PATTERN.exec(pattern)?.[1] : undefined;
  if (prefix !== undefined) return exampleId(prefix);
  return pattern === BASE64URL_PATTERN ? 'aWQ' : 'text';
};

/** Checks what decides between fields of one name: type, choices and pattern. */
const fits = (value: unknown, schema: JsonSchema): boolean => {
  const alternatives = asSchemas(schema['anyOf']);
  if (alternatives.length > 0) return alternatives.some((one) => fits(value, one));
  if (schema['$ref'] !== undefined) return jsonTypeOf(value) === 'object';
  if (schema['const'] !== undefined) return schema['const'] === value;
  const choices = asList(schema['enum']);
  if (choices.length > 0) return choices.includes(value);
  const types = asList(schema['type']);
  const pattern = schema['pattern'];
  if (typeof pattern === 'string' && typeof value === 'string' && !new RegExp(pattern).test(value)) return false;
  if (types.length === 0) return true;
  return types.includes(jsonTypeOf(value)) || (Number.isInteger(value) && types.includes('integer'));
};

const jsonTypeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const typeOf = (schema: JsonSchema): unknown => asList(schema['type'])[0];

const dereference = (
  schema: JsonSchema,
  components: ExampleOptions['components'],
): { schema: JsonSchema; component?: string } => {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return { schema };
  const component = $ref.slice(COMPONENTS.length);
  return { schema: components[component] ?? {}, component };
};

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;
const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];
const asSchemas = (value: unknown): readonly JsonSchema[] => asList(value).filter(isSchema);
