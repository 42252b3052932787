import { createServer } from 'node:http';
import { type Configuration, Provider } from 'oidc-provider';

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
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer(async (req, res) => {
    if (upstream.isHanging) return;
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
