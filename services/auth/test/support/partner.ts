import { hash, randomBytes } from 'node:crypto';
import { type AuthService, newEmail } from './auth-service.ts';
import { type Answer, type CallOptions, call, textAt } from './http.ts';

/** A listening service, in this process or another. */
type Served = Pick<AuthService, 'url'>;

export const PASSWORD = 'a long enough passphrase';
export const REDIRECT_URI = 'https://app.example/callback';

/** A person who has signed up and in. */
export interface Person {
  readonly email: string;
  readonly userId: string;
  readonly token: string;
}

/** Signs a person up and in. */
export const newPerson = async (
  service: Served,
  accountType: 'personal' | 'business' = 'personal',
): Promise<Person> => {
  const email = newEmail();
  const created = await call(`${service.url}/v1/console/accounts`, {
    json: {
      email,
      password: PASSWORD,
      account_type: accountType,
      ...(accountType === 'business' ? { business_name: 'Acme' } : {}),
    },
  });
  if (created.status !== 201) throw new Error(`sign-up: ${created.status} ${created.text}`);
  const session = await call(`${service.url}/v1/console/sessions`, { json: { email, password: PASSWORD } });
  if (session.status !== 201) throw new Error(`sign-in: ${session.status} ${session.text}`);
  return { email, userId: textAt(created, 'account', 'svc_user_id'), token: textAt(session, 'session_token') };
};

/** A registered app. */
export interface RegisteredApp {
  readonly clientId: string;
  readonly secret: string | undefined;
  readonly redirectUri: string;
}

/** Registers an app of this business. */
export const newApp = async (service: Served, owner: Person, fields: object = {}): Promise<RegisteredApp> => {
  const answer = await call(`${service.url}/v1/integrations/apps`, {
    token: owner.token,
    json: { name: 'Test app', redirect_uris: [REDIRECT_URI], client_type: 'public', ...fields },
  });
  if (answer.status !== 201) throw new Error(`register: ${answer.status} ${answer.text}`);
  return {
    clientId: textAt(answer, 'client_id'),
    secret: answer.text.includes('client_secret') ? textAt(answer, 'client_secret') : undefined,
    redirectUri: textAt(answer, 'redirect_uris', 0),
  };
};

export const newVerifier = (): string => randomBytes(32).toString('base64url');
export const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url');
export const STATE = 'state-of-sixteen-and-more';

/** The parameters of a valid request for approval. */
export const consentRequest = (app: RegisteredApp, verifier: string, over: object = {}) => ({
  client_id: app.clientId,
  redirect_uri: app.redirectUri,
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
  state: STATE,
  approved: true,
  ...over,
});

/** Approves over JSON and answers the code. */
export const approve = async (
  service: Served,
  { app, person, verifier, over = {} }: { app: RegisteredApp; person: Person; verifier: string; over?: object },
): Promise<string> => {
  const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
    token: person.token,
    json: consentRequest(app, verifier, over),
  });
  if (answer.status !== 200) throw new Error(`approve: ${answer.status} ${answer.text}`);
  const code = new URL(textAt(answer, 'redirect_to')).searchParams.get('code');
  if (code === null) throw new Error('no code');
  return code;
};

/** Posts a form to the token endpoint. */
export const postToken = (
  service: Served,
  form: Record<string, string> | string,
  options: CallOptions = {},
): Promise<Answer> => call(`${service.url}/v1/integrations/oauth/token`, { form, ...options });

const credentials = (app: RegisteredApp): Record<string, string> => ({
  client_id: app.clientId,
  ...(app.secret === undefined ? {} : { client_secret: app.secret }),
});

/** Redeems a code. */
export const redeem = (
  service: Served,
  {
    app,
    code,
    verifier,
    over = {},
  }: { app: RegisteredApp; code: string; verifier: string; over?: Record<string, string> },
): Promise<Answer> =>
  postToken(service, {
    grant_type: 'authorization_code',
    ...credentials(app),
    redirect_uri: app.redirectUri,
    code,
    code_verifier: verifier,
    ...over,
  });

/** Uses a refresh token. */
export const refresh = (
  service: Served,
  { app, token, over = {} }: { app: RegisteredApp; token: string; over?: Record<string, string> },
): Promise<Answer> =>
  postToken(service, { grant_type: 'refresh_token', ...credentials(app), refresh_token: token, ...over });

/** Tokens of a fresh consent. */
export const connect = async (
  service: Served,
  { app, person, over = {} }: { app: RegisteredApp; person: Person; over?: object },
): Promise<{ accessToken: string; refreshToken: string; code: string; verifier: string; grantId: string }> => {
  const verifier = newVerifier();
  const code = await approve(service, { app, person, verifier, over });
  const answer = await redeem(service, { app, code, verifier });
  if (answer.status !== 200) throw new Error(`redeem: ${answer.status} ${answer.text}`);
  const accessToken = textAt(answer, 'access_token');
  return {
    accessToken,
    refreshToken: textAt(answer, 'refresh_token'),
    code,
    verifier,
    grantId: claimsOf(accessToken)['grant_id'] ?? '',
  };
};

/** The claims of a JWT, unverified. */
export const claimsOf = (token: string): Record<string, string> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
