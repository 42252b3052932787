import { ConnectError } from './connect/connect-error.ts';
import { type BeginOptions, ConnectionEndedError, type ConnectSession, createConnector } from './connect/connector.ts';
import type { GrantedBudget } from './connect/token-request.ts';
import { createSvcClient, type SvcClient } from './inference/svc-client.ts';
import { accepts, object, optional, text } from './shape.ts';
import { createMemoryTokenStore, createUserTokens } from './user-tokens.ts';

/** The parts of a page that the flow uses. `window` has them. */
export interface PageLike {
  readonly location: { readonly href: string; assign(url: string): void };
  readonly history: { readonly state: unknown; replaceState(state: unknown, unused: string, url: string): void };
  readonly sessionStorage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
}

export interface BrowserAppOptions {
  /** Base URL of the service, without `/v1`. */
  readonly baseUrl: string;
  /** The `client_id` of a public app. */
  readonly clientId: string;
  /** Exactly as registered. Defaults to the address of this page, without query and fragment. */
  readonly redirectUri?: string | undefined;
  /** Scopes separated by spaces. Defaults to `inference usage:read`. */
  readonly scope?: string | undefined;
  /** Allows http to hosts that are not loopback. Never set it in production. */
  readonly allowInsecure?: boolean | undefined;
  /** A replacement for `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Defaults to the page that runs this code. */
  readonly page?: PageLike | undefined;
}

export interface BrowserConnection {
  readonly svcUserId: string;
  /** Granted scopes, separated by spaces. */
  readonly scope: string;
  /** The user's limit for this app; absent without one. */
  readonly budget?: GrantedBudget;
}

/**
 * An app that runs in a page. Tokens stay in memory, so that no script of a later page finds them; only `state` and the
 * code verifier of a running flow are in `sessionStorage`.
 */
export interface BrowserApp {
  /** The user connected in this page; undefined before, and once the connection has ended. */
  readonly svcUserId: string | undefined;
  /** Calls the service for the connected user. Throws `ConnectionEndedError` if there is none. */
  readonly client: SvcClient;
  /** Sends the browser to the consent page. It comes back to the redirect URI. */
  connect(options?: Omit<BeginOptions, 'prompt'>): Promise<void>;
  /**
   * Finishes a flow if this page is where the browser came back to, and removes the answer from its address. Returns
   * undefined if it is not, or if `resume` needed a page. Call it at each start; repeated calls return the same result.
   * Throws `ConnectError`.
   */
  completeConnect(): Promise<BrowserConnection | undefined>;
  /**
   * After a reload, connects the user of this tab again without a page. Returns true if the browser is on its way; false
   * if no user was connected in this tab. Call it after `completeConnect()` has returned undefined.
   */
  resume(): Promise<boolean>;
  /** Revokes the tokens and forgets the user. The connection stays until the user removes it. Throws `ConnectError`. */
  disconnect(): Promise<void>;
}

/** Members that the service adds to the redirect URI (RFC 6749 section 4.1.2, RFC 9207). */
const ANSWER = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'];

const flowShape = object({ state: text(1), codeVerifier: text(1), isResumed: optional(text()) });

/** Creates an app for a page. Sends no request. Throws `TypeError` on invalid options. */
export const createBrowserApp = (options: BrowserAppOptions): BrowserApp => {
  const { baseUrl, clientId, scope, allowInsecure, fetch, page = thisPage() } = options;
  const redirectUri = options.redirectUri ?? page.location.href.replace(/[?#].*$/, '');
  const connector = createConnector({ issuer: baseUrl, clientId, redirectUri, scope, allowInsecure, fetch });
  const store = createMemoryTokenStore();
  const userTokens = createUserTokens({ connector, store });
  const flowKey = `svc.flow.${clientId}`;
  const connectedKey = `svc.connected.${clientId}`;
  let svcUserId: string | undefined;
  let completed: Promise<BrowserConnection | undefined> | undefined;

  const leave = async (asked: BeginOptions): Promise<void> => {
    const { url, session } = await connector.begin(asked);
    const flow = asked.prompt === undefined ? session : { ...session, isResumed: 'yes' };
    page.sessionStorage.setItem(flowKey, JSON.stringify(flow));
    page.location.assign(url);
  };

  /** Takes the flow from the storage. A flow can be finished only once. */
  const takeFlow = (): (ConnectSession & { isResumed?: string | undefined }) | undefined => {
    const stored = parse(page.sessionStorage.getItem(flowKey));
    page.sessionStorage.removeItem(flowKey);
    return accepts(flowShape, stored) ? stored : undefined;
  };

  const complete = async (): Promise<BrowserConnection | undefined> => {
    const callback = new URL(page.location.href);
    if (!isAnswer(callback.searchParams)) return undefined;
    const flow = takeFlow();
    page.history.replaceState(page.history.state, '', withoutAnswer(callback));
    page.sessionStorage.removeItem(connectedKey);
    try {
      const { tokens } = await connector.finish(callback, flow);
      await userTokens.save(tokens);
      svcUserId = tokens.svcUserId;
      page.sessionStorage.setItem(connectedKey, 'yes');
      const { scope: granted, budget } = tokens;
      return { svcUserId, scope: granted, ...(budget === undefined ? {} : { budget }) };
    } catch (error) {
      const needsPage = error instanceof ConnectError && error.reason === 'interaction_required';
      if (needsPage && flow?.isResumed !== undefined) return undefined;
      throw error;
    }
  };

  const tokens: Parameters<typeof createSvcClient>[0]['tokens'] = async (request) => {
    if (svcUserId === undefined) throw new ConnectionEndedError('');
    try {
      return await userTokens.accessToken(svcUserId, request);
    } catch (error) {
      if (error instanceof ConnectionEndedError) svcUserId = undefined;
      throw error;
    }
  };

  return {
    get svcUserId() {
      return svcUserId;
    },
    client: createSvcClient({ baseUrl, tokens, allowInsecure, fetch }),
    connect: (asked = {}) => leave(asked),
    completeConnect: () => {
      completed ??= complete();
      return completed;
    },
    resume: async () => {
      if (svcUserId !== undefined || page.sessionStorage.getItem(connectedKey) === null) return false;
      await leave({ prompt: 'none' });
      return true;
    },
    disconnect: async () => {
      page.sessionStorage.removeItem(connectedKey);
      const stored = svcUserId === undefined ? undefined : await store.load(svcUserId);
      svcUserId = undefined;
      if (stored === undefined) return;
      await userTokens.forget(stored.tokens.svcUserId);
      await connector.revoke(stored.tokens);
    },
  };
};

/** In a page, the global object is its window. */
const thisPage = (): PageLike => globalThis as unknown as PageLike;

/** Returns true for the query of an answer. Other parameters of the page may have one of these names. */
const isAnswer = (query: URLSearchParams): boolean =>
  query.has('state') && query.has('iss') && (query.has('code') || query.has('error'));

const withoutAnswer = (callback: URL): string => {
  const url = new URL(callback);
  for (const name of ANSWER) url.searchParams.delete(name);
  return url.href;
};

const parse = (json: string | null): unknown => {
  try {
    return JSON.parse(json ?? 'null');
  } catch {
    return undefined;
  }
};
