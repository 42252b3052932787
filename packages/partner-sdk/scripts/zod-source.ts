import { z } from 'zod';

type JsonNode = Record<string, unknown>;

/** Names in the generated file, by schema. */
export type NamedSchemas = ReadonlyMap<z.core.$ZodType, string>;

const NAME = 'x-name';
/** Fields that the SDK accepts with any value of their type, so that a later release of the service may change them. */
const LOOSE_FIELDS: Readonly<Record<string, string>> = { api_version: 'z.string()', max_pending_requests: 'z.int()' };
const LINE_CHARACTERS_MAX = 100;
const ID = 'z.string().min(1).max(255)';

/**
 * Renders a schema of the contract as TypeScript that builds it with zod. Fields, types, enumerations and lower bounds
 * stay; patterns and upper bounds are left out, because a later release may widen them. Other named schemas become
 * references.
 */
export const zodSource = (schema: z.ZodType, names: NamedSchemas): string => {
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
  if ('const' in node) return `z.literal(${literal(node['const'])})`;
  if (Array.isArray(node['enum'])) return `z.enum([${node['enum'].map(literal).join(', ')}])`;
  if (Array.isArray(node['oneOf'])) return renderUnion(node['oneOf'].map(asNode), render);
  if (Array.isArray(node['anyOf'])) return renderAlternatives(node['anyOf'].map(asNode), render);
  const { type } = node;
  if (Array.isArray(type)) return `${render({ ...node, type: type.find((name) => name !== 'null') })}.nullable()`;
  switch (type) {
    case 'object':
      return renderObject(node, render);
    case 'array':
      return `z.array(${render(asNode(node['items']))})`;
    case 'boolean':
      return 'z.boolean()';
    case 'integer':
      return `z.int()${lowerBound(node['minimum'])}`;
    case 'number':
      return `z.number()${lowerBound(node['minimum'])}`;
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
    return `${name}: ${source}${required.includes(name) ? '' : '.optional()'}`;
  });
  const kind = node['additionalProperties'] === false ? 'object' : 'looseObject';
  return `z.${kind}({${listed(fields)}})`;
};

/** Lists items on one line if they fit, else each on a separate line. */
const listed = (items: readonly string[]): string => {
  const line = items.join(', ');
  if (line.length <= LINE_CHARACTERS_MAX && !line.includes('\n')) return ` ${line} `;
  return `\n${items.map((item) => `  ${item.replaceAll('\n', '\n  ')},\n`).join('')}`;
};

const renderString = ({ format, pattern, minLength }: JsonNode): string => {
  if (format === 'date-time') return 'z.iso.datetime()';
  if (format === 'date') return 'z.iso.date()';
  if (pattern !== undefined) return ID;
  return `z.string()${lowerBound(minLength)}`;
};

const renderUnion = (options: readonly JsonNode[], render: Render): string =>
  `z.discriminatedUnion('event', [${listed(options.map(render))}])`;

const renderAlternatives = (options: readonly JsonNode[], render: Render): string => {
  const isNull = ({ type }: JsonNode) => type === 'null';
  const sources = options.filter((option) => !isNull(option)).map(render);
  const source = sources.length === 1 ? (sources[0] ?? '') : `z.union([${sources.join(', ')}])`;
  return options.some(isNull) ? `${source}.nullable()` : source;
};

const lowerBound = (bound: unknown): string =>
  typeof bound === 'number' && bound > Number.MIN_SAFE_INTEGER ? `.min(${bound})` : '';

const literal = (value: unknown): string => JSON.stringify(value).replace(/^"(.*)"$/, "'$1'");

const asNode = (value: unknown): JsonNode => {
  if (typeof value !== 'object' || value === null) throw new Error(`no schema: ${JSON.stringify(value)}`);
  return { ...value };
};
