import {
  type Connector,
  createConnector,
  createMemoryTokenStore,
  createSvcClient,
  createUserTokens,
  type SvcClient,
  type TokenSet,
} from '@svc/partner-sdk';
import {
  createMemoryWebhookStore,
  createWebhookReceiver,
  type WebhookEvent,
  type WebhookReceiver,
} from '@svc/partner-sdk/server';
import type { Inbox } from '../inbox/index.ts';
import type { Registration } from '../registration/index.ts';

/** A registered app. */
export interface Partner {
  readonly clientId: string;
  /** The single page, a public app. */
  readonly pageClientId: string;
  /** Currency of the service's plans. */
  readonly currency: string;
  readonly connector: Connector;
  readonly receiver: WebhookReceiver;
  /** Stores the tokens of a newly connected user. */
  readonly keep: (tokens: TokenSet) => Promise<void>;
  readonly isConnected: (svcUserId: string) => Promise<boolean>;
  /** Returns a client that calls the service for this user. */
  readonly clientOf: (svcUserId: string) => SvcClient;
  /** Revokes and deletes the tokens of a user. */
  readonly release: (svcUserId: string) => Promise<void>;
}

export interface PartnerDeps {
  readonly baseUrl: string;
  readonly redirectUri: string;
  readonly registration: Registration;
  readonly inbox: Inbox;
  readonly clock: () => Date;
}

/** Assembles the SDK's parts. */
export const createPartner = ({ baseUrl, redirectUri, registration, inbox, clock }: PartnerDeps): Partner => {
  const { clientId, clientSecret, signingSecret, pageClientId, currency } = registration;
  // An http base URL is the operator's choice, for example for a stack under another local name.
  const allowInsecure = baseUrl.startsWith('http:');
  const connector = createConnector({ issuer: baseUrl, clientId, clientSecret, redirectUri, allowInsecure });
  const store = createMemoryTokenStore();
  const userTokens = createUserTokens({ connector, store });
  const connectedAtMs = new Map<string, number>();

  const forget = async (svcUserId: string): Promise<void> => {
    connectedAtMs.delete(svcUserId);
    await userTokens.forget(svcUserId);
  };
  const handle = async (event: WebhookEvent): Promise<void> => {
    inbox.add({ isVerified: true, envelope: event, raw: undefined });
    if (event.event !== 'integration.revoked') return;
    const { svc_user_id: svcUserId } = event.user;
    // A user who has reconnected in the meantime stays connected.
    const isOver = Date.parse(event.data.revoked_at) >= (connectedAtMs.get(svcUserId) ?? 0);
    if (isOver) await forget(svcUserId);
  };

  return {
    clientId,
    pageClientId,
    currency,
    connector,
    receiver: createWebhookReceiver({ secret: signingSecret, clientId, store: createMemoryWebhookStore(), handle }),
    keep: async (tokens) => {
      connectedAtMs.set(tokens.svcUserId, clock().getTime());
      await userTokens.save(tokens);
    },
    isConnected: async (svcUserId) => (await store.load(svcUserId)) !== undefined,
    clientOf: (svcUserId) => createSvcClient({ baseUrl, tokens: userTokens.of(svcUserId), allowInsecure }),
    release: async (svcUserId) => {
      const stored = await store.load(svcUserId);
      await forget(svcUserId);
      if (stored !== undefined) await connector.revoke(stored.tokens);
    },
  };
};
