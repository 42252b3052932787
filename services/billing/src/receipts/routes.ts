import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type SignReceiptDeps, signReceipt } from './sign-receipt.ts';

/** Cache lifetime of the key set. Short enough, because each key is published 90 days before its first use. */
const KEY_SET_SECONDS = 3_600;

/** Binds the public routes of receipts. */
export const receiptRoutes = (deps: SignReceiptDeps): Binding[] => [
  bind(routes.getRequestReceipt, async ({ caller, params }) => ({
    status: 200,
    body: await signReceipt(
      deps,
      params.request_id,
      ({ userId, clientId }) => userId === caller.userId && clientId === caller.clientId,
    ),
  })),
  bind(routes.getReceiptJwks, async () => ({
    status: 200,
    body: { keys: (await deps.receiptKeys.published()).map((key) => ({ kty: 'EC', kid: '', ...key })) },
    headers: { 'cache-control': `public, max-age=${KEY_SET_SECONDS}`, 'access-control-allow-origin': '*' },
  })),
];

/** Binds the internal routes of receipts. */
export const receiptInternalRoutes = (deps: SignReceiptDeps): Binding[] => [
  bind(internalRoutes.signKeyReceipt, async ({ body }) => ({
    status: 200,
    body: await signReceipt(
      deps,
      body.request_id,
      ({ userId, keyId }) =>
        userId === body.svc_user_id && keyId !== null && (body.key_id === null || body.key_id === keyId),
    ),
  })),
];
