import { z } from 'zod';

/** A JSON Schema (draft 2020-12) in an OpenAPI 3.1 document. */
export type JsonSchema = Record<string, unknown>;

/** Collects the named schemas of a document. */
export interface SchemaCollector {
  /** Returns the schema inline, or a reference to its component. */
  readonly add: (schema: z.ZodType) => JsonSchema;
  readonly components: Record<string, JsonSchema>;
}

const COMPONENTS = '#/components/schemas/';

/** Creates a collector. Schemas with a `meta` id become components of that name. */
export const createSchemaCollector = (): SchemaCollector => {
  const components: Record<string, JsonSchema> = {};
  const add = (schema: z.ZodType): JsonSchema => {
    const { $schema, $defs, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, JsonSchema>)) {
      components[name] ??= clean(definition);
    }
    const name = schema.meta()?.id;
    if (name === undefined) return clean(root);
    components[name] ??= clean(root);
    return { $ref: `${COMPONENTS}${name}` };
  };
  return { add, components };
};

/** Redirects references to components and drops the `id` that named the component. */
const clean = (schema: JsonSchema): JsonSchema => {
  const { id, ...rest } = schema;
  const keepsId = typeof id === 'object' ? { id } : {};
  return rewrite({ ...rest, ...keepsId }) as JsonSchema;
};

const rewrite = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rewrite);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? inner.replace('#/$defs/', COMPONENTS) : rewrite(inner),
    ]),
  );
};
