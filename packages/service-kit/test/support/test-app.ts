import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { created, defineRoute, json, jsonBody, optionalJsonBody, type RouteDefinition } from '@svc/contracts';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  type Binding,
  bind,
  continueOnRead,
  createLogger,
  createMetrics,
  createServiceApp,
  type Metrics,
  type ServiceAppOptions,
} from '../../src/index.ts';
import { testAuthenticators } from './test-authenticators.ts';

const base = { service: 'auth', errorShape: 'detail', tag: 'Test', summary: 'Test', errors: [] } as const;

/** Contract with one route per feature of the factory. */
export const testRoutes = {
  listThings: defineRoute({
    ...base,
    operationId: 'listThings',
    method: 'GET',
    path: '/v1/things',
    caller: 'public',
    request: {
      query: z.object({
        limit: z.int().min(1).max(100).default(50),
        after: z.string().min(1).optional(),
        is_open: z.boolean().optional(),
        tag: z.array(z.string()).optional(),
      }),
    },
    responses: { 200: json('ok', z.unknown()) },
  }),
  createThing: defineRoute({
    ...base,
    operationId: 'createThing',
    method: 'POST',
    path: '/v1/things',
    caller: 'public',
    request: {
      body: jsonBody(z.strictObject({ name: z.string().min(1).max(80), count: z.int().gt(0).nullish() }), 1_000),
    },
    responses: { 201: created('ok', z.object({ name: z.string() }), '/v1/things/{name}') },
  }),
  getThing: defineRoute({
    ...base,
    operationId: 'getThing',
    managementScope: 'apps:read',
    role: 'viewer',
    method: 'GET',
    path: '/v1/things/{thing_id}',
    caller: 'console_session',
    request: {
      params: z.object({ thing_id: z.string().min(1).max(20) }),
      headers: z.object({ 'x-mode': z.enum(['a', 'b']).optional() }),
    },
    responses: { 200: json('ok', z.object({ thing_id: z.string() })) },
  }),
  updateThing: defineRoute({
    ...base,
    operationId: 'updateThing',
    managementScope: 'apps:write',
    role: 'developer',
    audit: null,
    method: 'PATCH',
    path: '/v1/things/{thing_id}',
    caller: 'console_session',
    business: true,
    request: { params: z.object({ thing_id: z.string() }), body: jsonBody(z.strictObject({ active: z.boolean() })) },
    responses: { 200: json('ok', z.object({ active: z.boolean() })) },
  }),
  buyThing: defineRoute({
    ...base,
    operationId: 'buyThing',
    managementScope: null,
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/things/{thing_id}/buy',
    caller: 'console_session',
    verifiedEmail: true,
    request: { params: z.object({ thing_id: z.string() }) },
    responses: { 200: json('ok', z.unknown()) },
  }),
  unboundThing: defineRoute({
    ...base,
    operationId: 'unboundThing',
    managementScope: null,
    role: 'person',
    audit: null,
    method: 'DELETE',
    path: '/v1/things/{thing_id}',
    caller: 'console_session',
    request: { params: z.object({ thing_id: z.string() }) },
    responses: { 204: { description: 'gone' } },
  }),
  rotateThing: defineRoute({
    ...base,
    operationId: 'rotateThing',
    method: 'POST',
    path: '/v1/things/fixed/rotate',
    caller: 'public',
    request: { body: optionalJsonBody(z.strictObject({ overlap_seconds: z.int().min(0).optional() })) },
    responses: { 200: json('ok', z.unknown()) },
  }),
  infer: defineRoute({
    ...base,
    operationId: 'infer',
    method: 'POST',
    path: '/v1/infer',
    caller: 'oauth_access_token',
    scopes: ['inference'],
    request: { body: jsonBody(z.strictObject({ messages: z.array(z.looseObject({})).min(1) })) },
    responses: { 200: json('ok', z.unknown()) },
  }),
  submitForm: defineRoute({
    ...base,
    operationId: 'submitForm',
    method: 'POST',
    path: '/v1/form',
    caller: 'public',
    request: {
      body: {
        contentType: 'application/x-www-form-urlencoded',
        schema: z.object({ action: z.enum(['pay', 'cancel']), amount: z.int().optional() }),
        required: true,
        bytesMax: 1_000,
      },
    },
    responses: { 200: json('ok', z.unknown()) },
  }),
  issueToken: defineRoute({
    ...base,
    operationId: 'issueToken',
    method: 'POST',
    path: '/v1/oauth/token',
    caller: 'oauth_public',
    errorShape: 'oauth',
    request: {
      body: {
        contentType: 'application/x-www-form-urlencoded',
        schema: z.unknown(),
        required: true,
        bytesMax: 1_000,
        raw: true,
      },
    },
    responses: { 200: json('ok', z.unknown()) },
  }),
  authorizePage: defineRoute({
    ...base,
    operationId: 'authorizePage',
    method: 'GET',
    path: '/v1/oauth/authorize',
    caller: 'oauth_public',
    request: {
      query: z.object({
        client_id: z.string().min(1),
        state: z.string().min(16),
        scope: z.string().default('inference usage:read'),
      }),
    },
    responses: { 200: { description: 'page', contentType: 'text/html', schema: z.string() } },
  }),
  wireChat: defineRoute({
    ...base,
    operationId: 'wireChat',
    method: 'POST',
    path: '/v1/wire/completions',
    caller: 'api_key',
    errorShape: 'wire',
    request: {
      body: jsonBody(z.looseObject({ model: z.string(), messages: z.array(z.looseObject({})).min(1) }), 1_000),
    },
    responses: { 200: json('ok', z.unknown()) },
  }),
  upload: defineRoute({
    ...base,
    operationId: 'upload',
    method: 'PUT',
    path: '/v1/upload',
    caller: 'public',
    request: {
      body: { contentType: 'multipart/form-data', schema: z.string(), required: true, bytesMax: 100, raw: true },
    },
    responses: { 200: json('ok', z.unknown()) },
  }),
} as const satisfies Record<string, RouteDefinition>;

/** Answers each route with the handler's input. */
export const testBindings: Binding[] = [
  bind(testRoutes.listThings, async ({ query }) => ({ status: 200, body: query })),
  bind(testRoutes.createThing, async ({ body }) => ({ status: 201, body: { name: body.name } })),
  bind(testRoutes.getThing, async ({ params, headers, caller }) => ({
    status: 200,
    body: { thing_id: params.thing_id, mode: headers['x-mode'] ?? null, user: caller.userId },
  })),
  bind(testRoutes.updateThing, async ({ body }) => ({ status: 200, body })),
  bind(testRoutes.buyThing, async ({ params }) => ({ status: 200, body: params })),
  bind(testRoutes.rotateThing, async ({ body }) => ({ status: 200, body: { overlap: body?.overlap_seconds ?? null } })),
  bind(testRoutes.infer, async ({ caller, body }) => ({
    status: 200,
    body: { app: caller.clientId, count: body.messages.length },
  })),
  bind(testRoutes.submitForm, async ({ body }) => ({ status: 200, body })),
  bind(testRoutes.wireChat, async ({ body }) => ({ status: 200, body })),
  bind(testRoutes.authorizePage, async ({ query }) => ({
    status: 200,
    body: `<p>${query.scope}</p>`,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': "default-src 'self'", 'cache-control': 'private' },
  })),
];

/** Serves a listener on a free port until the test ends. */
export const serve = async (listener: RequestListener): Promise<{ url: string; port: number }> => {
  const server = createServer(listener);
  continueOnRead(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // The address of a listening TCP server is an object.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
};

/** Collects log lines for inspection. */
export const collectLogs = () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    service: 'auth',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  return { logger, lines };
};

export type TestAppOptions = Partial<Omit<ServiceAppOptions, 'service' | 'metrics' | 'contract'>> & {
  readonly contract?: readonly RouteDefinition[];
};

export const startTestApp = async (options: TestAppOptions = {}) => {
  const { logger, lines } = collectLogs();
  const metrics: Metrics = createMetrics('auth');
  const app = createServiceApp({
    service: 'auth',
    contract: Object.values(testRoutes),
    bindings: testBindings,
    authenticate: testAuthenticators,
    logger,
    metrics,
    responseValidation: true,
    ...options,
  });
  const { url, port } = await serve(app);
  const send = async (
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: unknown } = {},
  ) => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(typeof init.body === 'object' ? { 'content-type': 'application/json' } : {}), ...init.headers },
      body: textOf(init.body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return { url, port, send, lines, metrics };
};

const textOf = (body: unknown): string | null => {
  if (body === undefined) return null;
  return typeof body === 'string' ? body : JSON.stringify(body);
};
