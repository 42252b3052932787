import {
  ConnectError,
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
import { type Request, Router } from 'express';
import type { Inbox } from './inbox/inbox.ts';
import { describeProblem, renderProblemPage } from './pages.ts';
import type { Registration } from './registration/register.ts';
import { clearSessionCookie, readSessionCookie, type SessionStore, setSessionCookie } from './sessions.ts';
import { textsOf, type View } from './texts/view.ts';

/** Proposed on the consent page, where the user may change or remove it. Half of the smallest local plan. */
const PROPOSED_LIMIT = { limitMicros: 500_000, period: 'week' } as const;

interface ConnectRoutesDeps {
  readonly sessions: SessionStore;
  readonly partner: () => Partner | undefined;
  readonly serviceUrl: string;
}

/** Connects and disconnects the user of a browser. */
export const connectRoutes = ({ sessions, partner, serviceUrl }: ConnectRoutesDeps): Router => {
  const viewOf = (request: Request): View => ({ texts: textsOf(request), serviceUrl });
  return Router()
    .get('/connect', async (request, response) => {
      const current = partner();
      // The start page names the problem.
      if (current === undefined) return response.redirect(303, '/');
      try {
        const budget = { ...PROPOSED_LIMIT, currency: current.currency };
        const { url, session: flow } = await current.connector.begin({ locale: textsOf(request).locale, budget });
        let session = sessions.find(readSessionCookie(request));
        if (session === undefined) {
          const created = sessions.create();
          setSessionCookie(response, created.id);
          session = created.session;
        }
        session.connect = flow;
        response.redirect(303, url);
      } catch (error) {
        const problem = describeProblem(error, viewOf(request));
        response.status(problem.status).send(renderProblemPage(problem, textsOf(request)));
      }
    })
    .get('/callback', async (request, response) => {
      const id = readSessionCookie(request);
      const session = sessions.find(id);
      const flow = session?.connect;
      // Another tab, or this page before a reload, has connected meanwhile.
      if (session?.svcUserId !== undefined && flow === undefined) return response.redirect(303, '/');
      // A flow is completed only once.
      if (session !== undefined) session.connect = undefined;
      try {
        const current = partner();
        if (current === undefined) throw new ConnectError('wrong_state');
        const { svcUserId, tokens } = await current.connector.finish(request.originalUrl, flow);
        await current.keep(tokens);
        // Rotates the session id after sign-in, against session fixation.
        sessions.remove(id);
        const created = sessions.create();
        created.session.svcUserId = svcUserId;
        setSessionCookie(response, created.id);
        response.redirect(303, '/');
      } catch (error) {
        const problem = describeProblem(error, viewOf(request));
        response.status(problem.status).send(renderProblemPage(problem, textsOf(request), session?.svcUserId));
      }
    })
    .post('/sign-out', (request, response) => {
      sessions.remove(readSessionCookie(request));
      clearSessionCookie(response);
      response.redirect(303, '/');
    })
    .post('/disconnect', async (request, response) => {
      const svcUserId = sessions.find(readSessionCookie(request))?.svcUserId;
      sessions.remove(readSessionCookie(request));
      clearSessionCookie(response);
      try {
        if (svcUserId !== undefined) await partner()?.release(svcUserId);
        response.redirect(303, '/');
      } catch (error) {
        const { status } = describeProblem(error, viewOf(request));
        const texts = textsOf(request);
        const action = { label: texts.problem.removeThere, href: serviceUrl };
        const problem = { status, message: texts.problem.notReleased, action };
        response.status(status).send(renderProblemPage(problem, texts));
      }
    });
};

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

interface PartnerDeps {
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
