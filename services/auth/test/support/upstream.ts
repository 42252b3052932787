import { createServer } from 'node:http';
import { type Configuration, Provider } from 'oidc-provider';
import type { AuthService } from './auth-service.ts';
import type { Browser, Shown } from './browser.ts';

/** A person as the upstream provider describes them. */
export interface UpstreamPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/** A second OpenID provider, on a real socket; it signs `person` in, or refuses. */
export interface Upstream {
  readonly issuer: string;
  person: UpstreamPerson | undefined;
  /** While true, nothing is answered at all. */
  isHanging: boolean;
  /** While true, parameters that ask for a fresh sign-in are ignored, as some providers do. */
  ignoresFreshness: boolean;
  readonly stop: () => Promise<void>;
}

export const UPSTREAM_CLIENT = { id: 'svc', secret: 'secret-of-the-upstream-client-of-the-tests' };

/** Starts the provider for one client, whose callback is here. */
export const startUpstream = async (port: number, redirectUri: string): Promise<Upstream> => {
  const issuer = `http://127.0.0.1:${port}`;
  const people = new Map<string, UpstreamPerson>();
  const provider = new Provider(issuer, configuration(redirectUri, people));
  provider.silent = true;
  const handle = provider.callback();
  const upstream: Upstream = {
    issuer,
    person: undefined,
    isHanging: false,
    ignoresFreshness: false,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer(async (req, res) => {
    if (upstream.isHanging) return;
    if (upstream.ignoresFreshness) req.url = req.url?.replace(/&(prompt|max_age)=[^&]*/g, '') ?? '';
    if (!req.url?.startsWith('/interaction/')) return await handle(req, res);
    const person = upstream.person;
    if (person === undefined) {
      await provider.interactionFinished(req, res, { error: 'access_denied' });
      return;
    }
    people.set(person.sub, person);
    const details = await provider.interactionDetails(req, res);
    const grant = new provider.Grant({ accountId: person.sub, clientId: UPSTREAM_CLIENT.id });
    grant.addOIDCScope(String(details.params['scope']));
    await provider.interactionFinished(req, res, {
      login: { accountId: person.sub, remember: false },
      consent: { grantId: await grant.save() },
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return upstream;
};

const configuration = (redirectUri: string, people: ReadonlyMap<string, UpstreamPerson>): Configuration => ({
  clients: [
    {
      client_id: UPSTREAM_CLIENT.id,
      client_secret: UPSTREAM_CLIENT.secret,
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  cookies: { keys: ['key-of-the-tests'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ ...people.get(id), sub: id }) }),
});

/** Our service and the provider that it trusts. */
interface Pair {
  readonly service: Pick<AuthService, 'url'>;
  readonly upstream: Upstream;
}

const START = '/v1/console/sso/start';

/** Goes through the provider up to the answer for us, without delivering it. */
export const passUpstream = async (pair: Pair, browser: Browser, start = START): Promise<string> =>
  await passUpstreamFrom(pair, (await browser.openOnce(start)).location);

/** The same from an address at the provider. */
export const passUpstreamFrom = async ({ service, upstream }: Pair, from: string | undefined): Promise<string> => {
  const cookies = new Map<string, string>();
  let location = from;
  while (location !== undefined && !location.startsWith(service.url)) {
    const response = await fetch(new URL(location, upstream.issuer), {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    });
    await response.arrayBuffer();
    for (const header of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (header.split(';')[0] ?? '').split('=', 2);
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null) throw new Error(`the provider answered ${response.status}`);
    location = new URL(next, location).href;
  }
  if (location === undefined) throw new Error('the provider was not asked');
  return location;
};

/** Signs in at the provider and delivers its answer. */
export const signInUpstream = async (pair: Pair, browser: Browser, start?: string): Promise<Shown> =>
  browser.openOnce(await passUpstream(pair, browser, start));
