import { routes } from '@svc/contracts';
import { AppError, type Binding, bind, type Logger, type ReplyContent } from '@svc/service-kit';
import { sessionCookies, signInOriginOf } from '../sessions/index.ts';
import { type FinishSsoDeps, finishSso, ssoFailed } from './finish-sso.ts';
import { createSsoCookie } from './sso-cookie.ts';
import { createUpstreamProvider, type SsoSettings, UpstreamFailed } from './upstream-provider.ts';

/** Without settings, single sign-on is off. */
export interface SsoRoutesDeps extends Omit<FinishSsoDeps, 'provider'> {
  readonly sso: SsoSettings | undefined;
  readonly ssoCookieKey: Buffer;
  readonly logger: Logger;
}

const CALLBACK_PATH = '/v1/console/sso/callback';

/** Binds the routes of single sign-on with an OpenID provider. */
export const ssoRoutes = (deps: SsoRoutesDeps): Binding[] => {
  const { publicBaseUrl, sso } = deps;
  if (sso === undefined) return offRoutes();
  const cookie = createSsoCookie({ key: deps.ssoCookieKey, clock: deps.clock, publicBaseUrl });
  const provider = createUpstreamProvider(sso, { redirectUri: `${publicBaseUrl}${CALLBACK_PATH}`, clock: deps.clock });
  const logFailure = (error: unknown): void => {
    // The library's message names the fault. The provider's answer is never logged.
    if (error instanceof AppError || error instanceof UpstreamFailed)
      deps.logger.warn({ err: error.cause ?? error, component: 'sso' }, 'single sign-on failed');
  };
  return [
    statusRoute(sso),
    bind(routes.startSso, async ({ query, res }) => {
      try {
        const { url, checks } = await provider.begin();
        res.appendHeader('set-cookie', cookie.make({ ...checks, returnTo: query.return_to }));
        return seeOther(url.href);
      } catch (error) {
        logFailure(error);
        if (error instanceof UpstreamFailed) throw ssoFailed('The OpenID provider cannot be reached now.', error);
        throw error;
      }
    }),
    bind(routes.finishSso, async ({ req, res, clientAddress }) => {
      const attempt = cookie.read(req.headers.cookie);
      res.appendHeader('set-cookie', cookie.clear());
      if (attempt === undefined) throw ssoFailed('This sign-in was not begun in this browser, or it took too long.');
      const search = req.url?.split('?', 2)[1] ?? '';
      try {
        const url = new URL(`${publicBaseUrl}${CALLBACK_PATH}?${search}`);
        const origin = signInOriginOf({ req, clientAddress }, publicBaseUrl);
        const started = await finishSso({ ...deps, provider }, { attempt, url, origin });
        if (started !== undefined) res.appendHeader('set-cookie', sessionCookies(started, publicBaseUrl));
        return seeOther(`${publicBaseUrl}${attempt.returnTo}`);
      } catch (error) {
        logFailure(error);
        throw error;
      }
    }),
  ];
};

/** Returns the route that shows the console if single sign-on is available. */
const statusRoute = (sso: SsoSettings | undefined): Binding =>
  bind(routes.getSso, async () => ({ status: 200, body: { enabled: sso !== undefined, name: sso?.name ?? null } }));

const seeOther = (location: string): ReplyContent => ({ status: 303, headers: { location } });

const offRoutes = (): Binding[] => {
  const refuse = async (): Promise<never> => {
    throw new AppError('sso_not_configured');
  };
  return [statusRoute(undefined), bind(routes.startSso, refuse), bind(routes.finishSso, refuse)];
};
