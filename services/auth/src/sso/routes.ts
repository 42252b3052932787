import { type Locale, localeSchema, routes } from '@svc/contracts';
import type { Sealer } from '@svc/secrets';
import { AppError, type Binding, bind, type Logger, type ReplyContent } from '@svc/service-kit';
import {
  type ConsoleFrameDeps,
  consoleFrame,
  preferredLocale,
  safeNext,
  secondFactorPage,
  seeOther,
} from '../pages/index.ts';
import { sessionCookies, signInOriginOf } from '../sessions/index.ts';
import { type FinishSsoDeps, finishSso, type SsoOutcome, ssoFailed } from './finish-sso.ts';
import { linkRoutes } from './link-routes.ts';
import { createSsoCookies, type SsoAttempt } from './sso-cookie.ts';
import {
  createUpstreamProvider,
  type SsoSettings,
  UpstreamFailed,
  type UpstreamProvider,
} from './upstream-provider.ts';

/** Without settings, single sign-on is off. */
export interface SsoRoutesDeps extends Omit<FinishSsoDeps, 'provider' | 'providerName'>, Omit<ConsoleFrameDeps, 'sso'> {
  readonly sso: SsoSettings | undefined;
  readonly ssoCookieSealer: Sealer;
  readonly logger: Logger;
}

const CALLBACK_PATH = '/v1/console/sso/callback';

/** Binds the routes of single sign-on with an OpenID provider. */
export const ssoRoutes = (deps: SsoRoutesDeps): Binding[] => {
  const { publicBaseUrl, sso, clock } = deps;
  if (sso === undefined) return offRoutes();
  const cookies = createSsoCookies({ sealer: deps.ssoCookieSealer, clock, publicBaseUrl });
  const provider = createUpstreamProvider(sso, { redirectUri: `${publicBaseUrl}${CALLBACK_PATH}`, clock });
  const providerName = sso.name ?? new URL(sso.issuer).hostname;
  const linkDeps = { ...deps, cookies, providerName };
  const begin = async (start: Pick<SsoAttempt, 'isFresh' | 'returnTo' | 'linkTo'>) => {
    const { url, checks } = await startAt(provider, start.isFresh).catch(logAndThrow(deps));
    return { url: url.href, cookie: cookies.attempt.make({ ...checks, ...start }) };
  };
  return [
    statusRoute(sso),
    bind(routes.startSso, async ({ query, res }) => {
      const isFresh = query.fresh === 'true';
      const { url, cookie } = await begin({ isFresh, returnTo: query.return_to, linkTo: undefined });
      res.appendHeader('set-cookie', cookie);
      return seeOther(url);
    }),
    bind(routes.linkSso, async ({ body, caller, res }) => {
      const linkTo = { userId: caller.userId, sessionId: caller.sessionId };
      const { url, cookie } = await begin({ isFresh: false, returnTo: body?.return_to ?? '/', linkTo });
      res.appendHeader('set-cookie', cookie);
      return { status: 200, body: { url } };
    }),
    bind(routes.finishSso, async ({ req, res, clientAddress }) => {
      const attempt = cookies.attempt.read(req.headers.cookie);
      res.appendHeader('set-cookie', cookies.attempt.clear());
      if (attempt === undefined) throw ssoFailed('This sign-in was not begun in this browser, or it took too long.');
      const search = req.url?.split('?', 2)[1] ?? '';
      const url = new URL(`${publicBaseUrl}${CALLBACK_PATH}?${search}`);
      const origin = signInOriginOf({ req, clientAddress }, publicBaseUrl);
      const outcome = await finishSso({ ...linkDeps, provider }, { attempt, url, origin }).catch(logAndThrow(deps));
      const locale = localeOf(attempt.returnTo) ?? preferredLocale(req);
      return answer(linkDeps, outcome, {
        attempt,
        locale,
        setCookies: (values) => res.appendHeader('set-cookie', values),
      });
    }),
    ...linkRoutes(linkDeps),
  ];
};

const startAt = async (provider: UpstreamProvider, isFresh: boolean): ReturnType<UpstreamProvider['begin']> => {
  try {
    return await provider.begin(isFresh);
  } catch (error) {
    if (error instanceof UpstreamFailed) throw ssoFailed('The OpenID provider cannot be reached now.', error);
    throw error;
  }
};

/** The library's message names the fault. The provider's answer is never logged. */
const logAndThrow =
  ({ logger }: SsoRoutesDeps) =>
  (error: unknown): never => {
    if (error instanceof AppError)
      logger.warn({ err: error.cause ?? error, component: 'sso' }, 'single sign-on failed');
    throw error;
  };

interface Return {
  readonly attempt: SsoAttempt;
  readonly locale: Locale;
  readonly setCookies: (values: string[]) => void;
}

const answer = (
  deps: SsoRoutesDeps & { readonly cookies: ReturnType<typeof createSsoCookies> },
  outcome: SsoOutcome,
  { attempt, locale, setCookies }: Return,
): ReplyContent => {
  const { publicBaseUrl } = deps;
  const returnTo = `${publicBaseUrl}${attempt.returnTo}`;
  if (outcome === 'cancelled' || outcome === 'linked') return seeOther(returnTo);
  if ('step' in outcome) {
    const frame = consoleFrame({ locale, next: safeNext(attempt.returnTo) }, deps, 'sign-in');
    return secondFactorPage(frame, outcome);
  }
  if ('pendingLink' in outcome) {
    setCookies([deps.cookies.pendingLink.make(outcome.pendingLink)]);
    return seeOther(`${publicBaseUrl}/sign-in/link?${new URLSearchParams({ locale })}`);
  }
  setCookies(sessionCookies(outcome.started, publicBaseUrl));
  return seeOther(returnTo);
};

/** Returns the language of the page to return to, if its address names one. */
const localeOf = (path: string): Locale | undefined =>
  localeSchema.safeParse(new URLSearchParams(path.split('?', 2)[1] ?? '').get('locale')).data;

/** Returns the route that shows the console if single sign-on is available. */
const statusRoute = (sso: SsoSettings | undefined): Binding =>
  bind(routes.getSso, async () => ({ status: 200, body: { enabled: sso !== undefined, name: sso?.name ?? null } }));

const offRoutes = (): Binding[] => {
  const refuse = async (): Promise<never> => {
    throw new AppError('sso_not_configured');
  };
  const refused = [
    routes.startSso,
    routes.finishSso,
    routes.showIdentityLink,
    routes.linkIdentity,
    routes.finishIdentityLink,
    routes.mailIdentityLink,
    routes.showMailedIdentityLink,
    routes.confirmMailedIdentityLink,
  ] as const;
  return [statusRoute(undefined), bind(routes.linkSso, refuse), ...refused.map((route) => bind(route, refuse))];
};
