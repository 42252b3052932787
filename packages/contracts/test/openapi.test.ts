import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { documentedRoutes } from '../src/index.ts';
import { openapiDocument } from '../src/openapi/index.ts';

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1 without dangling references', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(openapiDocument()));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
    const text = JSON.stringify(openapiDocument());
    const { components } = openapiDocument() as { components: { schemas: Record<string, unknown> } };
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(components.schemas)).toContain(name);
    }
    expect(text).not.toContain('#/$defs/');
  });

  test('describes every public route and nothing else', () => {
    const { paths } = openapiDocument() as { paths: Record<string, Record<string, { operationId: string }>> };
    const described = Object.values(paths).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    );
    expect(described.sort()).toEqual(documentedRoutes.map((route) => route.operationId).sort());
  });

  test('lists both token schemes, and the required scopes where the scheme defines them', () => {
    const { paths, components } = openapiDocument() as {
      paths: Record<string, Record<string, { security: unknown }>>;
      components: { securitySchemes: Record<string, object> };
    };
    expect(components.securitySchemes['dpop_access_token']).toMatchObject({ type: 'http', scheme: 'DPoP' });
    for (const { method, path, caller, scopes } of documentedRoutes) {
      const security = paths[path]?.[method.toLowerCase()]?.security;
      const isAccessToken = caller === 'oauth_access_token';
      if (isAccessToken) expect(security).toEqual([{ oauth_access_token: scopes }, { dpop_access_token: [] }]);
      else expect(JSON.stringify(security)).not.toContain('dpop');
    }
  });

  test('lists the content types of responses and the errors of the token endpoint', () => {
    const { paths } = openapiDocument() as {
      paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, object> }> }>>;
    };
    const typesOf = (path: string, method: string, status: string): string[] =>
      Object.keys(paths[path]?.[method]?.responses[status]?.content ?? {});
    const streamed = ['/v1/chat/completions', '/v1/completions', '/v1/integrations/inference/chat/completions'];
    for (const path of streamed)
      expect(typesOf(path, 'post', '200')).toEqual(['application/json', 'text/event-stream']);
    expect(typesOf('/v1/integrations/oauth/authorize', 'get', '400')).toEqual(['text/html', 'application/json']);
    for (const status of ['400', '401', '503']) {
      expect(typesOf('/v1/integrations/oauth/token', 'post', status)).toEqual(['application/json']);
    }
  });

  test('matches the committed file', async () => {
    const committed = await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(openapiDocument())));
  });
});
