import { idPattern } from '@svc/contracts';
import { decodeJwt } from 'jose';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { findOauthClient } from '../apps/index.ts';
import { type Clock, later, SECOND_MS, toUnixSeconds } from '../clock.ts';
import { findGrant, type GrantRecord } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import { toClientMetadata } from './client-metadata.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { insertPushedRequest } from './pushed-request-queries.ts';
import { findCode, findRefreshToken } from './queries.ts';
import { judgeRefreshUse } from './refresh-grace.ts';
import { currentTokenWork } from './token-work.ts';

/** What the library's storage needs. */
export interface AdapterDeps {
  database: Executor;
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
    const client = await findOauthClient(deps.database, clientId);
    if (client === undefined) return undefined;
    currentTokenWork().app = client.app;
    // The library's own schema checks what this becomes; its type spells the same members as literals.
    return toClientMetadata(client) as AdapterPayload;
  },
});

const grantModel = (deps: AdapterDeps): Model => ({
  find: async (id) => {
    const grant = await readGrant(deps, id);
    if (grant === undefined) return undefined;
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
    const code = await findCode(deps.database, digest);
    const grant = code === undefined ? undefined : await readGrant(deps, code.grantId);
    if (code === undefined || grant === undefined) return undefined;
    const work = currentTokenWork();
    work.presented = { kind: 'authorization_code', digest, grantId: grant.id };
    // The library would look at expiry and verifier first; whoever presents a used code has a stolen one in any case.
    if (code.consumedAt !== null && work.detectsReuse) work.endedGrantIds.add(grant.id);
    return {
      ...commonPayload(deps, value, grant),
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
    const token = await findRefreshToken(deps.database, digest);
    const grant = token === undefined ? undefined : await readGrant(deps, token.grantId);
    if (token === undefined || grant === undefined) return undefined;
    const work = currentTokenWork();
    work.presented = { kind: 'refresh_token', digest, grantId: grant.id };
    const graceSeconds = work.app?.clientId === grant.clientId ? work.app.refreshGraceSeconds : 0;
    const isReuse = judgeRefreshUse(token, graceSeconds, deps.clock()) === 'reuse';
    if (isReuse && work.detectsReuse) work.endedGrantIds.add(grant.id);
    return {
      ...commonPayload(deps, value, grant),
      kind: 'RefreshToken',
      gty: 'authorization_code',
      iat: toUnixSeconds(token.issuedAt),
      exp: toUnixSeconds(token.expiresAt),
      rotations: token.generation,
      ...(token.keyThumbprint === null ? {} : { jkt: token.keyThumbprint }),
      ...(isReuse && token.consumedAt !== null ? { consumed: toUnixSeconds(token.consumedAt) } : {}),
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
    await insertPushedRequest(deps.database, {
      digest: digestOpaqueValue(value),
      clientId: app.clientId,
      parameters: decodeJwt(payload.request),
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

/** A request reads its grant once: the code or token needs it, and then the library. */
const readGrant = async (deps: AdapterDeps, id: string): Promise<GrantRecord | undefined> => {
  const { grants } = currentTokenWork();
  const known = grants.get(id);
  if (known !== undefined) return known;
  const grant = await findGrant(deps.database, id);
  if (grant !== undefined) grants.set(id, grant);
  return grant;
};

/** The library uses up only what it has just found. */
const consumePresented = async (): Promise<void> => {
  const work = currentTokenWork();
  if (work.presented === undefined) throw new Error('what is used up was not read before');
  work.consumption = work.presented;
};
