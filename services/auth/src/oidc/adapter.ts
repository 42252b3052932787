import { idPattern } from '@svc/contracts';
import { decodeJwt } from 'jose';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { type Clock, later, SECOND_MS, toUnixSeconds } from '../clock.ts';
import type { GrantRecord } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import { checkPushedRequest } from './check-pushed-request.ts';
import { toClientMetadata } from './client-metadata.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { insertPushedRequest } from './pushed-request-queries.ts';
import { pushedQuery } from './resolve-pushed-request.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';
import { type Consumption, currentTokenWork, type TokenWork } from './token-work.ts';

/** What the library's storage needs. */
export interface AdapterDeps {
  database: Executor;
  /** Reads what a request names. */
  readState: (question: TokenQuestion) => Promise<TokenState>;
  clock: Clock;
  /** The one resource server (RFC 8707), audience of every access token. */
  resource: string;
}

type Model = Partial<Adapter>;

const CLIENT_ID = idPattern('app');

/**
 * The library's storage, one part for each of its models. It reads the database but writes nothing: what is to change is
 * noted in the request's work and committed as a whole.
 */
export const createAdapterFactory = (deps: AdapterDeps): ((name: string) => Adapter) => {
  const models: Readonly<Record<string, Model>> = {
    Client: clientModel(deps),
    Grant: grantModel(deps),
    AuthorizationCode: codeModel(deps),
    RefreshToken: refreshTokenModel(deps),
    PushedAuthorizationRequest: pushedRequestModel(deps),
  };
  return (name) => ({ ...unused(name), ...models[name] });
};

/** Ending a grant ends all that hangs on it, whichever model the library names. */
const endGrantLater = async (grantId: string): Promise<void> => {
  currentTokenWork().endedGrantIds.add(grantId);
};

const unused = (name: string): Adapter => ({
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: endGrantLater,
  upsert: async () => {
    throw new Error(`${name} is not stored`);
  },
  consume: async () => {
    throw new Error(`${name} cannot be used up`);
  },
});

const clientModel = (deps: AdapterDeps): Model => ({
  find: async (clientId) => {
    // What no app is called need not be looked for, and could be text that the database does not take.
    if (!CLIENT_ID.test(clientId)) return undefined;
    const work = currentTokenWork();
    const question = { ...work.presents(), clientId };
    const answer = await deps.readState(question);
    if (answer.client === undefined) return undefined;
    work.state = { question, answer };
    work.app = answer.client.app;
    // The library's own schema checks what this becomes; its type spells the same members as literals.
    return toClientMetadata(answer.client) as AdapterPayload;
  },
});

/** The library asks for the grant of what it has found, and for no other. */
const grantModel = (deps: AdapterDeps): Model => ({
  find: async (id) => {
    const { grant } = currentTokenWork();
    if (grant?.id !== id) return undefined;
    return {
      jti: grant.id,
      kind: 'Grant',
      accountId: grant.userId,
      clientId: grant.clientId,
      resources: { [deps.resource]: grant.scope },
    };
  },
  destroy: endGrantLater,
});

const codeModel = (deps: AdapterDeps): Model => ({
  find: async (value) => {
    const digest = digestOpaqueValue(value);
    const code = await readPresented(deps, 'code', digest);
    if (code === undefined) return undefined;
    const work = notePresented({ kind: 'authorization_code', digest, grant: code.grant });
    // The library would look at expiry and verifier first; whoever presents a used code has a stolen one in any case.
    if (code.consumedAt !== null && work.detectsReuse) work.endedGrantIds.add(code.grant.id);
    return {
      ...commonPayload(deps, value, code.grant),
      kind: 'AuthorizationCode',
      iat: toUnixSeconds(code.issuedAt),
      exp: toUnixSeconds(code.expiresAt),
      redirectUri: code.redirectUri,
      codeChallenge: code.codeChallenge,
      codeChallengeMethod: 'S256',
      ...(code.dpopThumbprint === null ? {} : { dpopJkt: code.dpopThumbprint }),
      ...(code.consumedAt === null ? {} : { consumed: toUnixSeconds(code.consumedAt) }),
    };
  },
  consume: consumePresented,
});

const refreshTokenModel = (deps: AdapterDeps): Model => ({
  find: async (value) => {
    const digest = digestOpaqueValue(value);
    const token = await readPresented(deps, 'refreshToken', digest);
    if (token === undefined) return undefined;
    const { grant } = token;
    const work = notePresented({ kind: 'refresh_token', digest, grant });
    const isReuse = token.use === 'reuse';
    if (isReuse && work.detectsReuse) work.endedGrantIds.add(grant.id);
    return {
      ...commonPayload(deps, value, grant),
      kind: 'RefreshToken',
      gty: 'authorization_code',
      iat: toUnixSeconds(token.issuedAt),
      exp: toUnixSeconds(token.expiresAt),
      rotations: token.generation,
      ...(token.keyThumbprint === null ? {} : { jkt: token.keyThumbprint }),
      ...(isReuse ? { consumed: toUnixSeconds(token.consumedAt ?? deps.clock()) } : {}),
    };
  },
  consume: consumePresented,
  upsert: async (value, payload) => {
    const { grantId, rotations = 0, iat, exp } = payload;
    if (grantId === undefined || iat === undefined || exp === undefined)
      throw new Error('a refresh token is not whole');
    currentTokenWork().refreshToken = {
      digest: digestOpaqueValue(value),
      grantId,
      generation: rotations,
      keyThumbprint: typeof payload['jkt'] === 'string' ? payload['jkt'] : null,
      issuedAt: new Date(iat * 1000),
      expiresAt: new Date(exp * 1000),
    };
  },
});

/** The library makes a JWT of the parameters; they are kept as they are, for the one time that they are asked for. */
const pushedRequestModel = (deps: AdapterDeps): Model => ({
  upsert: async (value, payload, expiresInSeconds) => {
    const { app } = currentTokenWork();
    if (app === undefined || payload.request === undefined || expiresInSeconds === undefined)
      throw new Error('a pushed request is not whole');
    const parameters = decodeJwt(payload.request);
    checkPushedRequest(pushedQuery(app.clientId, parameters));
    await insertPushedRequest(deps.database, {
      digest: digestOpaqueValue(value),
      clientId: app.clientId,
      parameters,
      expiresAt: later(deps.clock(), expiresInSeconds * SECOND_MS),
    });
  },
});

const commonPayload = (deps: AdapterDeps, value: string, grant: GrantRecord) => ({
  jti: value,
  accountId: grant.userId,
  clientId: grant.clientId,
  grantId: grant.id,
  scope: grant.scope,
  resource: deps.resource,
});

/** What was read along with the app; a library that asks for anything else gets it too. */
const readPresented = async <Kind extends 'code' | 'refreshToken'>(
  deps: AdapterDeps,
  kind: Kind,
  digest: Buffer,
): Promise<TokenState[Kind]> => {
  const { state, app } = currentTokenWork();
  if (state?.question[kind]?.equals(digest) === true) return state.answer[kind];
  const nothing: TokenQuestion = { clientId: app?.clientId ?? null, code: null, refreshToken: null };
  return (await deps.readState({ ...nothing, [kind]: digest }))[kind];
};

const notePresented = ({ grant, ...presented }: Omit<Consumption, 'grantId'> & { grant: GrantRecord }): TokenWork => {
  const work = currentTokenWork();
  work.grant = grant;
  work.presented = { ...presented, grantId: grant.id };
  return work;
};

/** The library uses up only what it has just found. */
const consumePresented = async (): Promise<void> => {
  const work = currentTokenWork();
  if (work.presented === undefined) throw new Error('what is used up was not read before');
  work.consumption = work.presented;
};
