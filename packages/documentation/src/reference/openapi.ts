import { z } from 'zod';

/** The part of a JSON Schema that the reference uses. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly description?: string | undefined;
  readonly minimum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
}

const schemaSchema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    properties: z.record(z.string(), schemaSchema).optional(),
    required: z.array(z.string()).optional(),
    items: schemaSchema.optional(),
    anyOf: z.array(schemaSchema).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    default: z.unknown().optional(),
    format: z.string().optional(),
    pattern: z.string().optional(),
    description: z.string().optional(),
    minimum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
  }),
);

const contentSchema = z.record(
  z.string(),
  z.object({
    schema: schemaSchema.optional(),
    example: z.unknown().optional(),
    /** Errors by code. */
    examples: z.record(z.string(), z.object({ $ref: z.string() })).optional(),
  }),
);

const headerSchema = z.object({ description: z.string(), schema: schemaSchema, example: z.unknown() });

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().optional(),
  schema: schemaSchema,
  example: z.unknown().optional(),
});

const operationSchema = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  'x-management-scope': z.string().optional(),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ required: z.boolean().default(false), content: contentSchema }).optional(),
  responses: z
    .record(
      z.string(),
      z.object({
        description: z.string(),
        headers: z.record(z.string(), z.object({ $ref: z.string() })).default({}),
        content: contentSchema.optional(),
      }),
    )
    .default({}),
});

const documentSchema = z.object({
  tags: z.array(z.object({ name: z.string(), description: z.string().optional() })),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  webhooks: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({
    schemas: z.record(z.string(), schemaSchema),
    headers: z.record(z.string(), headerSchema),
  }),
});

export type Parameter = z.infer<typeof parameterSchema>;
export type Header = z.infer<typeof headerSchema>;

/** An operation with its path and method. */
export interface Operation extends z.infer<typeof operationSchema> {
  readonly method: string;
  readonly path: string;
}

export type Response = Operation['responses'][string];

/** A group of operations. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The part of the API that the reference shows. */
export interface Api {
  readonly tags: readonly Tag[];
  readonly operations: readonly Operation[];
  /** Webhook requests by event name. */
  readonly webhooks: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly headers: Readonly<Record<string, Header>>;
}

/** Parses the OpenAPI document. Throws a `ZodError` if its structure has changed. */
export const readApi = (document: unknown): Api => {
  const { tags, paths, webhooks, components } = documentSchema.parse(document);
  return {
    tags: tags.map(({ name, description = '' }) => ({ name, description })),
    operations: Object.entries(paths).flatMap(([path, methods]) => operationsAt(path, methods)),
    webhooks: Object.entries(webhooks).flatMap(([name, methods]) => operationsAt(name, methods)),
    schemas: components.schemas,
    headers: components.headers,
  };
};

const operationsAt = (path: string, methods: Readonly<Record<string, z.infer<typeof operationSchema>>>): Operation[] =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    parameters: operation.parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      schema: { ...schema, description: parameter.description ?? schema.description },
    })),
    method: method.toUpperCase(),
    path,
  }));

/** Resolves a schema reference to the schema and its name. */
export const dereference = (schema: Schema, { schemas }: Pick<Api, 'schemas'>): { schema: Schema; name?: string } => {
  const name = schema.$ref?.split('/').at(-1);
  const found = name === undefined ? undefined : schemas[name];
  return name === undefined || found === undefined ? { schema } : { schema: found, name };
};

/** Returns the headers of a response with their names. */
export const headersOf = ({ headers }: Response, api: Pick<Api, 'headers'>): readonly (readonly [string, Header])[] =>
  Object.entries(headers).flatMap(([name, { $ref }]) => {
    const header = api.headers[$ref.split('/').at(-1) ?? ''];
    return header === undefined ? [] : [[name, header] as const];
  });

/** A code that an operation may answer, with its meaning. */
export interface NamedError {
  readonly code: string;
  readonly meaning: string;
}

const ERROR_LINE = /^`([a-z_]+)`: (.+)$/s;

/** Returns the codes of an error response; none if the response is not ours to word. */
export const errorsOf = ({ description, content }: Response): readonly NamedError[] => {
  if (Object.values(content ?? {}).every(({ examples }) => examples === undefined)) return [];
  return description.split('\n\n').flatMap((line) => {
    const [, code, meaning] = ERROR_LINE.exec(line) ?? [];
    return code === undefined || meaning === undefined ? [] : [{ code, meaning }];
  });
};
