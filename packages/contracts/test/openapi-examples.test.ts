import { describe, expect, test } from 'vitest';
import { accountEventSchema, allRoutes, type RouteDefinition, webhookEventSchema } from '../src/index.ts';
import { openapiDocument } from '../src/openapi/index.ts';

interface MediaType {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Operation {
  readonly parameters: readonly { readonly name: string; readonly required: boolean; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<string, { readonly headers: object; readonly content?: Readonly<Record<string, MediaType>> }>
  >;
}

const { paths, webhooks, components } = openapiDocument() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Readonly<Record<'examples', Readonly<Record<string, { readonly value: unknown }>>>> &
    Readonly<Record<'headers', object>>;
};

const operationOf = ({ path, method }: RouteDefinition): Operation => {
  const operation = paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  return operation;
};

const headerNamesOf = (operationId: string, status: number): string[] => {
  const route = allRoutes.find((one) => one.operationId === operationId);
  return route === undefined ? [] : Object.keys(operationOf(route).responses[status]?.headers ?? {});
};

/** The value that stands for a text without a better example. */
const FILLER = /"text"(?!:)/;

describe('the examples of the OpenAPI document', () => {
  test.each(allRoutes.map((route) => [route.operationId, route] as const))(
    'fit the contract, and are there for the request and every response: %s',
    (_name, route) => {
      const { parameters, requestBody, responses } = operationOf(route);
      for (const { name, required, example } of parameters) if (required) expect(example, name).toBeDefined();
      const { body } = route.request;
      if (body !== undefined && body.contentType !== '*/*') {
        const example = requestBody?.content[body.contentType]?.example;
        expect(body.schema.safeParse(example).error?.issues ?? [], JSON.stringify(example)).toEqual([]);
        expect(JSON.stringify(example)).not.toMatch(FILLER);
      }
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [type, { example, examples = {} }] of Object.entries(content)) {
          const isThere = example !== undefined || Object.keys(examples).length > 0;
          expect(isThere, `${status} ${type}`).toBe(true);
        }
        const response = (route as RouteDefinition).responses[Number(status)];
        const schema = response?.alternatives?.['application/json'] ?? response?.schema;
        const example = content['application/json']?.example;
        if (schema === undefined || example === undefined) continue;
        expect(schema.safeParse(example).error?.issues ?? [], `${status} ${JSON.stringify(example)}`).toEqual([]);
      }
    },
  );

  test('name every error of an operation with its body', () => {
    for (const route of allRoutes) {
      const { responses } = operationOf(route);
      const named = Object.values(responses).flatMap(({ content = {} }) =>
        Object.values(content).flatMap(({ examples = {} }) => Object.entries(examples)),
      );
      for (const [code, { $ref }] of named) {
        const { value } = components.examples[$ref.split('/').at(-1) ?? ''] ?? {};
        // OAuth endpoints have codes of RFC 6749 instead.
        if (route.errorShape !== 'oauth') expect(JSON.stringify(value), route.operationId).toContain(`"${code}"`);
      }
      const listed = new Set(named.map(([code]) => code));
      const own = route.errorShape === 'oauth' ? [] : route.errors;
      expect(own.filter((code) => !listed.has(code))).toEqual([]);
    }
  });

  test('show every webhook event', () => {
    for (const { post } of Object.values(webhooks)) {
      const example = post.requestBody?.content['application/json']?.example;
      const isOfAccount = typeof example === 'object' && example !== null && 'account_id' in example;
      const schema = isOfAccount ? accountEventSchema : webhookEventSchema;
      expect(schema.safeParse(example).error?.issues ?? []).toEqual([]);
    }
  });
});

describe('the response headers of the OpenAPI document', () => {
  test('include the request id everywhere', () => {
    for (const route of allRoutes) {
      for (const { headers } of Object.values(operationOf(route).responses))
        expect(headers).toHaveProperty('X-Request-Id');
    }
  });

  test('name waiting times, challenges, rate limits and compliance where they are sent', () => {
    expect(headerNamesOf('createDelegatedChatCompletion', 429)).toContain('Retry-After');
    expect(headerNamesOf('createDelegatedChatCompletion', 504)).toContain('X-Should-Retry');
    expect(headerNamesOf('listApps', 401)).toContain('WWW-Authenticate');
    expect(headerNamesOf('createChatCompletion', 200)).toEqual(
      expect.arrayContaining(['x-ratelimit-remaining-tokens', 'X-Svc-Compliance-Provider']),
    );
    expect(headerNamesOf('listModels', 200)).toContain('X-Svc-Compliance-Gateway-Request-Id');
    expect(headerNamesOf('listApps', 200)).toEqual(['X-Request-Id']);
  });

  test('lead to what a 201 created, at a path that exists', () => {
    const known = new Set<string>(allRoutes.map(({ path }) => path.replaceAll(/\{\w+\}/g, '{}')));
    const withoutAddress: string[] = [];
    for (const route of allRoutes) {
      const response = (route as RouteDefinition).responses[201];
      if (response === undefined) continue;
      const { location } = response;
      if (location === undefined) {
        withoutAddress.push(route.operationId);
        continue;
      }
      const example = operationOf(route).responses[201]?.content?.['application/json']?.example;
      for (const [, name = ''] of location.matchAll(/\{(\w+)\}/g)) expect(example).toHaveProperty(name);
      expect(known).toContain(location.replaceAll(/\{\w+\}/g, '{}'));
    }
    // A pushed request is used by its reference, recovery codes as a set that no path shows.
    expect(withoutAddress.sort()).toEqual(['pushAuthorizationRequest', 'renewRecoveryCodes']);
  });
});
