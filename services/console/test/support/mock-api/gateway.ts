import { randomBytes } from 'node:crypto';
import { newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { nameOf } from './organization-state.ts';
import { ISSUER, receiptKeys, signReceipt } from './receipts.ts';
import { type ApiKey, type MockState, possessionsOf } from './state.ts';

/** The routes of the inference gateway that the pages call. */
export const gatewayBindings = (state: MockState): Binding[] => [
  bind(routes.listKeys, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).keys },
  })),
  bind(routes.createKey, async ({ body, caller }) => {
    const key = `svc_sk_${randomBytes(24).toString('base64url')}`;
    const record: ApiKey = {
      id: newId('key'),
      name: body.name,
      prefix: key.slice(0, 12),
      expires_at: body.expires_at ?? null,
      requests_per_minute: body.requests_per_minute ?? null,
      tokens_per_minute: body.tokens_per_minute ?? null,
      monthly_limit_micros: body.monthly_limit_micros ?? null,
      models: body.models ?? null,
      active: body.active ?? true,
      spent_this_month_micros: 0,
      previous_expires_at: null,
      created_at: new Date().toISOString(),
      created_by: { svc_user_id: caller.personId, name: nameOf(state, caller.personId) },
      creator_left: false,
      last_used_at: null,
    };
    possessionsOf(state, caller.userId).keys.unshift(record);
    return { status: 201, body: { ...record, key } };
  }),
  bind(routes.updateKey, async ({ params, body, caller }) => {
    const key = findKey(state, caller.userId, params.key_id);
    Object.assign(key, body);
    return { status: 200, body: key };
  }),
  bind(routes.rotateKey, async ({ params, body, caller }) => {
    const found = findKey(state, caller.userId, params.key_id);
    const key = `svc_sk_${randomBytes(24).toString('base64url')}`;
    const seconds = body?.overlap_seconds ?? 0;
    found.previous_expires_at = seconds === 0 ? null : new Date(Date.now() + seconds * 1000).toISOString();
    found.prefix = key.slice(0, 12);
    const { id, prefix, previous_expires_at } = found;
    return { status: 200, body: { id, key, prefix, previous_expires_at } };
  }),
  bind(routes.deleteKey, async ({ params, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    if (!owned.keys.some(({ id }) => id === params.key_id)) throw new AppError('not_found');
    owned.keys = owned.keys.filter(({ id }) => id !== params.key_id);
    return { status: 204 };
  }),
  bind(routes.listManagementKeys, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).managementKeys },
  })),
  bind(routes.createManagementKey, async ({ body, caller }) => {
    const key = `svc_mk_${randomBytes(24).toString('base64url')}`;
    const record = {
      id: newId('mk'),
      name: body.name,
      prefix: key.slice(0, 13),
      scopes: body.scopes,
      expires_at: body.expires_at ?? null,
      created_at: new Date().toISOString(),
      last_used_at: null,
    };
    possessionsOf(state, caller.userId).managementKeys.unshift(record);
    return { status: 201, body: { ...record, key } };
  }),
  bind(routes.deleteManagementKey, async ({ params, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    owned.managementKeys = owned.managementKeys.filter(({ id }) => id !== params.management_key_id);
    return { status: 204 };
  }),
  bind(routes.listGatewayUsage, async ({ query, caller, req }) => {
    const matching = possessionsOf(state, caller.userId).usage.filter(
      (record) =>
        (query.key_id === undefined || record.key_id === query.key_id) &&
        (query.model === undefined || record.model === query.model) &&
        (query.status === undefined || record.status === query.status) &&
        (query.from === undefined || record.started_at >= query.from),
    );
    if (req.headers.accept === 'text/csv') {
      const lines = matching.map(({ request_id, status }) => `${request_id},${status}\r\n`);
      return { status: 200, contentType: 'text/csv', body: `request_id,status\r\n${lines.join('')}` };
    }
    const start = query.after === undefined ? 0 : matching.findIndex((record) => record.request_id === query.after) + 1;
    const page = matching.slice(start, start + query.limit);
    return { status: 200, body: { data: page, has_more: start + page.length < matching.length } };
  }),
  bind(routes.getGatewayReceipt, async ({ params, caller }) => {
    const record = possessionsOf(state, caller.userId).usage.find(({ request_id }) => request_id === params.request_id);
    if (record === undefined) throw new AppError('not_found');
    if (record.state === 'uncertain') throw new AppError('not_settled');
    return { status: 200, body: { receipt: await signReceipt(record, caller.userId) } };
  }),
  bind(routes.getReceiptJwks, async () => ({ status: 200, body: await receiptKeys() })),
  bind(routes.getAuthorizationServerMetadata, async () => ({
    status: 200,
    body: { issuer: ISSUER, authorization_endpoint: ISSUER, token_endpoint: ISSUER, jwks_uri: ISSUER },
  })),
  bind(routes.summarizeGatewayUsage, async ({ caller }) => {
    const models = new Set(possessionsOf(state, caller.userId).usage.map(({ model }) => model ?? ''));
    const counts = { requests: 1, input_tokens: 1, output_tokens: 1, cost_micros: 1 };
    return { status: 200, body: { data: [...models].map((model) => ({ model, ...counts })) } };
  }),
];

const findKey = (state: MockState, userId: string, keyId: string): ApiKey => {
  const key = possessionsOf(state, userId).keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new AppError('not_found');
  return key;
};
