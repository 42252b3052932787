import {
  type AllowTargets,
  checkDestination,
  DestinationError,
  type DestinationFault,
  type Lookup,
  parseDestination,
} from '@svc/destinations';
import { type Act, AppError, type Clock, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { recordWebhookAct } from '../audit-log.ts';
import { beginGeneration, raiseSecretVersion } from '../events/index.ts';
import { newSigningSecret, type SecretBox } from '../signatures.ts';
import {
  type Configuration,
  findConfigurationByOwnerId,
  NO_PREVIOUS_SECRET,
  updateConfiguration,
  upsertConfiguration,
  type WebhookOwner,
} from './configuration.ts';

export interface ConfigureDeps {
  readonly database: Knex;
  readonly secretBox: SecretBox;
  readonly lookup: Lookup;
  readonly allowTargets: AllowTargets;
  readonly clock: Clock;
}

/** A new generation with the plaintext of its secret, which is shown once. */
export interface ConfiguredWebhook {
  readonly configuration: Configuration;
  readonly signingSecret: string;
}

const LOOKUP_TIMEOUT_MS = 8_000;

const FAULTS: Readonly<Record<DestinationFault, string>> = {
  url_invalid: 'the URL is not well-formed',
  scheme_not_https: 'the URL must begin with https://',
  userinfo_not_allowed: 'the URL must not contain a user name or password',
  port_not_allowed: 'the port must be 443 or from 1024 to 65535',
  no_public_address: 'the host must have public addresses, and no others',
};

/**
 * Sets an owner's destination and starts a generation with a new secret, which cancels the open events of the old one. Throws a 422
 * fault on `url` if the destination is not allowed.
 */
export const configureWebhook = async (
  { ownerId, accountId, url }: WebhookOwner & { readonly url: string },
  act: Act,
  deps: ConfigureDeps,
): Promise<ConfiguredWebhook> => {
  await checkUrl(url, deps);
  const signingSecret = newSigningSecret();
  const configuration = await deps.database.transaction(async (trx) => {
    const generation = await beginGeneration(trx, ownerId);
    const sealed = deps.secretBox.seal(signingSecret, { ownerId, generation });
    const created: Configuration = {
      ownerId,
      accountId,
      url,
      generation,
      createdAt: deps.clock(),
      sealed,
      ...NO_PREVIOUS_SECRET,
    };
    await upsertConfiguration(trx, created);
    await recordWebhookAct(trx, act, ownerId);
    return created;
  });
  return { configuration, signingSecret };
};

const checkUrl = async (url: string, { lookup, allowTargets }: ConfigureDeps): Promise<void> => {
  const signal = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
  try {
    await checkDestination(parseDestination(url, allowTargets), { lookup, signal });
  } catch (error) {
    if (!(error instanceof DestinationError) && !signal.aborted) throw error;
    const fault = error instanceof DestinationError ? error.fault : 'no_public_address';
    throw invalidField(['body', 'url'], 'value_error', `Value error, ${FAULTS[fault]}`);
  }
};

interface RotateDeps {
  readonly database: Knex;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
}

/** Plaintext of the new secret, shown once, and the end of the one before. */
interface RotatedSecret {
  readonly signingSecret: string;
  readonly previousExpiresAt: Date;
}

/**
 * Gives an owner a new signing secret within its generation; the one before signs as well until the overlap is over. Attempts in
 * flight go on. Throws `webhook_not_configured`.
 */
export const rotateSecret = async (
  { ownerId, overlapSeconds, act }: { ownerId: string; overlapSeconds: number; act: Act },
  { database, secretBox, clock }: RotateDeps,
): Promise<RotatedSecret> => {
  const signingSecret = newSigningSecret();
  const previousExpiresAt = new Date(clock().getTime() + overlapSeconds * 1_000);
  await database.transaction(async (trx) => {
    // The lane's lock keeps other rotations and generations waiting.
    const isConfigured = await raiseSecretVersion(trx, ownerId);
    const configuration = isConfigured ? await findConfigurationByOwnerId(trx, ownerId) : undefined;
    if (configuration === undefined) throw new AppError('webhook_not_configured');
    const { secretVersion: _kept, sealed, ...rest } = configuration;
    const owner = { ownerId, generation: configuration.generation };
    const previousSealed = secretBox.renew(sealed, owner);
    const renewed = { sealed: secretBox.seal(signingSecret, owner), previousSealed, previousExpiresAt };
    await updateConfiguration(trx, { ...rest, ...renewed });
    await recordWebhookAct(trx, act, ownerId);
  });
  return { signingSecret, previousExpiresAt };
};
