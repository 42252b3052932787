import { createContext, use } from 'react';

const APP = {
  configure: 'configureWebhook',
  configuration: 'getWebhookConfiguration',
  rotate: 'rotateWebhookSecret',
  test: 'testWebhook',
  events: 'listWebhookEvents',
  event: 'getWebhookEvent',
  deliverNow: 'deliverWebhookEventNow',
  recover: 'recoverWebhookEvent',
} as const;

type Operations = typeof APP;

const ACCOUNT = {
  configure: 'configureAccountWebhook',
  configuration: 'getAccountWebhook',
  rotate: 'rotateAccountWebhookSecret',
  test: 'testAccountWebhook',
  events: 'listAccountEvents',
  event: 'getAccountEvent',
  deliverNow: 'deliverAccountEventNow',
  recover: 'recoverAccountEvent',
} as const satisfies Record<keyof Operations, string>;

export interface WebhookOperations {
  readonly operations: Operations;
  readonly isAccount: boolean;
}

const APP_WEBHOOK: WebhookOperations = { operations: APP, isAccount: false };

/**
 * An account's routes take and answer what those of an app do, but for the names of its id and its events. Their paths have no
 * `client_id`, so that parameter goes unused.
 */
export const ACCOUNT_WEBHOOK: WebhookOperations = { operations: ACCOUNT as unknown as Operations, isAccount: true };

/** Says whose webhook the components show. */
export const WebhookContext = createContext(APP_WEBHOOK);

export const useWebhookOperations = (): WebhookOperations => use(WebhookContext);
