import { z } from 'zod';

type JsonNode = Record<string, unknown>;

/** Names in the generated file, by schema. */
export type NamedSchemas = ReadonlyMap<z.core.$ZodType, string>;

const NAME = 'x-name';
/** Fields that the SDK accepts with any value of their type, so that a later release of the service may change them. */
const LOOSE_FIELDS: Readonly<Record<string, string>> = { api_version: 'text()', max_pending_requests: 'integer()' };
const LINE_CHARACTERS_MAX = 100;
const ID = 'text(1)';

/**
 * Renders a schema of the contract as TypeScript that builds it with `shape.ts`. Fields, types, enumerations and lower
 * bounds stay; patterns and upper bounds are left out, because a later release may widen them. Other named schemas
 * become references.
 */
export const shapeSource = (schema: z.ZodType, names: NamedSchemas): string => {
  const root: JsonNode = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = names.get(zodSchema);
      if (name !== undefined && path.length > 0) jsonSchema[NAME] = name;
    },
  });
  const definitions = asNode(root['$defs'] ?? {});
  const render = (node: JsonNode): string => {
    const { $ref } = node;
    const target = typeof $ref === 'string' ? asNode(definitions[$ref.replace('#/$defs/', '')]) : node;
    return typeof target[NAME] === 'string' ? target[NAME] : renderNode(target, render);
  };
  return render(root);
};

type Render = (node: JsonNode) => string;

const renderNode = (node: JsonNode, render: Render): string => {
  if ('const' in node) return `oneOf(${literal(node['const'])})`;
  if (Array.isArray(node['enum'])) return `oneOf(${node['enum'].map(literal).join(', ')})`;
  if (Array.isArray(node['oneOf'])) return renderVariants(node['oneOf'].map(asNode), render);
  if (Array.isArray(node['anyOf'])) return renderAlternatives(node['anyOf'].map(asNode), render);
  const { type } = node;
  if (Array.isArray(type)) return `nullable(${render({ ...node, type: type.find((name) => name !== 'null') })})`;
  switch (type) {
    case 'object':
      return renderObject(node, render);
    case 'array':
      return `list(${render(asNode(node['items']))})`;
    case 'boolean':
      return 'flag()';
    case 'integer':
      return `integer(${lowerBound(node['minimum'])})`;
    case 'number':
      return `number(${lowerBound(node['minimum'])})`;
    case 'string':
      return renderString(node);
    default:
      throw new Error(`cannot render ${JSON.stringify(node)}`);
  }
};

const renderObject = (node: JsonNode, render: Render): string => {
  const required = Array.isArray(node['required']) ? node['required'] : [];
  const fields = Object.entries(asNode(node['properties'] ?? {})).map(([name, field]) => {
    const source = LOOSE_FIELDS[name] ?? render(asNode(field));
    return `${name}: ${required.includes(name) ? source : `optional(${source})`}`;
  });
  const kind = node['additionalProperties'] === false ? 'object' : 'openObject';
  return `${kind}({${listed(fields)}})`;
};

/** Lists items on one line if they fit, else each on a separate line. */
const listed = (items: readonly string[]): string => {
  const line = items.join(', ');
  if (line.length <= LINE_CHARACTERS_MAX && !line.includes('\n')) return ` ${line} `;
  return `\n${items.map((item) => `  ${item.replaceAll('\n', '\n  ')},\n`).join('')}`;
};

const renderString = ({ format, pattern, minLength }: JsonNode): string => {
  if (format === 'date-time') return 'dateTime()';
  if (pattern !== undefined) return ID;
  return `text(${lowerBound(minLength)})`;
};

const renderVariants = (options: readonly JsonNode[], render: Render): string => {
  const entries = options.map((option) => {
    const { event } = asNode(option['properties']);
    return `${literal(asNode(event)['const'])}: ${render(option)}`;
  });
  return `variants('event', {${listed(entries)}})`;
};

const renderAlternatives = (options: readonly JsonNode[], render: Render): string => {
  const isNull = ({ type }: JsonNode) => type === 'null';
  const [first = '', second] = options.filter((option) => !isNull(option)).map(render);
  const source = second === undefined ? first : `either(${first}, ${second})`;
  return options.some(isNull) ? `nullable(${source})` : source;
};

const lowerBound = (bound: unknown): string =>
  typeof bound === 'number' && bound > Number.MIN_SAFE_INTEGER ? String(bound) : '';

const literal = (value: unknown): string => JSON.stringify(value).replace(/^"(.*)"$/, "'$1'");

const asNode = (value: unknown): JsonNode => {
  if (typeof value !== 'object' || value === null) throw new Error(`no schema: ${JSON.stringify(value)}`);
  return { ...value };
};
