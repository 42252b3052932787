/** A JSON schema as it arrived. */
type Schema = Readonly<Record<string, unknown>>;

/** Deeper levels are left out where the schema allows it, so that recursive schemas end. */
const DEPTH_MAX = 6;

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-10-01',
  'date-time': '2026-10-01T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '0199a3f0-7c00-7000-8000-000000000000',
};

/** Makes an instance of a schema: always the same one, with every property, and lists as short as they may be but not empty. */
export const sampleOfSchema = (schema: unknown, text: string): unknown =>
  sample(schema, { root: schema, text, depth: 0 });

interface Context {
  readonly root: unknown;
  /** Fills strings. */
  readonly text: string;
  readonly depth: number;
}

const sample = (given: unknown, context: Context): unknown => {
  if (!isSchema(given) || context.depth > 2 * DEPTH_MAX) return null;
  const schema = resolved(given, context.root);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const deeper = { ...context, depth: context.depth + 1 };
  const choices = [schema['anyOf'], schema['oneOf']].find(Array.isArray);
  if (choices !== undefined) {
    // Past the depth, the last choice is usually null or the plain one.
    return sample(context.depth > DEPTH_MAX ? choices.at(-1) : choices[0], deeper);
  }
  return sampleOfType(typeOf(schema), schema, deeper);
};

const sampleOfType = (type: unknown, schema: Schema, context: Context): unknown => {
  switch (type) {
    case 'object':
      return sampleObject(schema, context);
    case 'array': {
      const least = numberIn(schema, 'minItems') ?? (context.depth > DEPTH_MAX ? 0 : 1);
      const length = Math.min(least, numberIn(schema, 'maxItems') ?? least);
      return Array.from({ length }, () => sample(schema['items'] ?? {}, context));
    }
    case 'string':
      return sampleString(schema, context.text);
    case 'number':
    case 'integer':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    default:
      return null;
  }
};

const sampleObject = (schema: Schema, context: Context): unknown => {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties).filter((name) => context.depth <= DEPTH_MAX || required.includes(name));
  return Object.fromEntries(names.map((name) => [name, sample(properties[name], context)]));
};

const sampleString = (schema: Schema, text: string): string => {
  const format = FORMATS[String(schema['format'])];
  if (format !== undefined) return format;
  const least = numberIn(schema, 'minLength') ?? 0;
  return text.padEnd(least, '.').slice(0, numberIn(schema, 'maxLength') ?? Math.max(text.length, least));
};

const sampleNumber = (schema: Schema): number => {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const least = numberIn(schema, 'minimum') ?? (typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1);
  const most = numberIn(schema, 'maximum') ?? (typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : least);
  const step = numberIn(schema, 'multipleOf') ?? 1;
  return Math.min(Math.ceil(least / step) * step, Math.max(most, Math.min(least, most)));
};

/** Follows a reference within the document, and joins the parts of `allOf`. */
const resolved = (schema: Schema, root: unknown): Schema => {
  const { $ref: reference, allOf } = schema;
  if (typeof reference === 'string' && reference.startsWith('#')) {
    const target = reference
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
      .reduce<unknown>((at, part) => (isSchema(at) ? at[part] : undefined), root);
    return isSchema(target) && target !== schema ? target : {};
  }
  if (!Array.isArray(allOf)) return schema;
  const parts = allOf.filter(isSchema).map((part) => resolved(part, root));
  const properties = Object.assign({}, ...[schema, ...parts].map((part) => part['properties'] ?? {}));
  return Object.assign({}, ...parts, schema, { properties });
};

const typeOf = (schema: Schema): unknown => {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((each) => each !== 'null');
  return type ?? (isSchema(schema['properties']) ? 'object' : 'items' in schema ? 'array' : 'string');
};

const numberIn = (schema: Schema, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
};

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
