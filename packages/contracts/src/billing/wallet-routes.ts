import { z } from 'zod';
import { pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import {
  autoTopUpSchema,
  topUpRequestSchema,
  topUpSessionSchema,
  walletSchema,
  walletTransactionSchema,
} from './wallets.ts';

const wallets = { service: 'billing', errorShape: 'detail', tag: 'Wallet', caller: 'console_session' } as const;

/** Routes of the API-key gateway's prepaid wallet. */
export const walletRoutes = {
  getWallet: defineRoute({
    ...wallets,
    operationId: 'getWallet',
    role: 'viewer',
    managementScope: 'wallet:read',
    method: 'GET',
    path: '/v1/gateway/wallet',
    summary: 'Get the wallet balance',
    description: '`held_micros` is held for requests under way.',
    request: {},
    responses: { 200: json('The wallet.', walletSchema) },
    errors: [],
  }),
  listWalletTransactions: defineRoute({
    ...wallets,
    operationId: 'listWalletTransactions',
    role: 'viewer',
    managementScope: 'wallet:read',
    method: 'GET',
    path: '/v1/gateway/wallet/transactions',
    summary: 'List the transactions of the wallet, newest first',
    description: 'Usage is summed up per UTC day.',
    request: { query: z.object(pageQuery) },
    responses: { 200: json('The transactions.', pageOf(walletTransactionSchema)) },
    errors: [],
  }),
  createTopUp: defineRoute({
    ...wallets,
    operationId: 'createTopUp',
    role: 'billing',
    audit: 'top_up.started',
    managementScope: null,
    method: 'POST',
    path: '/v1/gateway/wallet/top-ups',
    verifiedEmail: true,
    summary: 'Buy wallet balance',
    description: 'Returns the address of the payment provider’s page. The balance grows once the payment is confirmed.',
    request: { body: jsonBody(topUpRequestSchema) },
    responses: { 200: json('The hosted checkout.', topUpSessionSchema) },
    errors: ['payment_provider_unavailable'],
  }),
  getAutoTopUp: defineRoute({
    ...wallets,
    operationId: 'getAutoTopUp',
    role: 'billing',
    managementScope: 'wallet:read',
    method: 'GET',
    path: '/v1/gateway/wallet/auto-top-up',
    summary: 'Get the settings of automatic top-ups',
    description: 'Returns the settings, also while automatic top-ups are off.',
    request: {},
    responses: { 200: json('The settings, or the defaults.', autoTopUpSchema) },
    errors: [],
  }),
  changeAutoTopUp: defineRoute({
    ...wallets,
    operationId: 'changeAutoTopUp',
    role: 'billing',
    audit: 'auto_top_up.changed',
    managementScope: null,
    method: 'PUT',
    path: '/v1/gateway/wallet/auto-top-up',
    summary: 'Turn automatic top-ups on or off',
    description:
      'Charges the saved payment method when the available balance is below `below_micros`, one charge at a time, and never more than `monthly_max_micros` in a UTC month. A failed charge turns this off and mails the owner. A purchase in the hosted checkout saves its payment method. Turning it on requires a recent authentication.',
    request: { body: jsonBody(autoTopUpSchema) },
    responses: { 200: json('The settings.', autoTopUpSchema) },
    errors: ['reauthentication_required', 'payment_method_missing', 'payment_provider_unavailable'],
  }),
} as const;
