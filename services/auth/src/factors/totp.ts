import type { Locale } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { Secret, TOTP } from 'otpauth';
import { changeFactors, type FactorsDeps } from './change-factors.ts';
import { deleteUnconfirmedTotpsOfUser, FACTORS_MAX, insertTotp, listFactorsOfUser } from './queries.ts';

/** RFC 4226 section 4 (R6) recommends 160 bits. */
const SECRET_BYTES = 20;
/** Authenticator apps ignore other values. */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Steps before and after the current one, for clock drift and slow typing (RFC 6238 section 5.2). */
const WINDOW_STEPS = 1;

/** Returns a new random secret. */
const newTotpSecret = (): Buffer => Buffer.from(new Secret({ size: SECRET_BYTES }).bytes);

/** Returns the secret in base32, and the URL that authenticator apps read from a QR code. */
const describeTotp = (secret: Buffer, email: string): { secret: string; url: string } => {
  const totp = totpOf(secret, email);
  return { secret: totp.secret.base32, url: totp.toString() };
};

/** Returns the time step of a code, or undefined if the code is not valid around now. */
export const findTotpStep = (secret: Buffer, code: string, now: Date): number | undefined => {
  const digits = code.replaceAll(/\s/g, '');
  const timestamp = now.getTime();
  const totp = totpOf(secret, '');
  const delta = totp.validate({ token: digits, timestamp, window: WINDOW_STEPS });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
};

const totpOf = (secret: Buffer, label: string): TOTP =>
  new TOTP({ ...SETTINGS, issuer: 'svc', label, secret: Secret.fromHex(secret.toString('hex')) });

const DEFAULT_NAMES: Readonly<Record<Locale, string>> = { en: 'Authenticator app', it: 'App di autenticazione' };

/**
 * Adds a TOTP factor, which must be confirmed before it is used. Replaces an earlier unconfirmed one. Throws
 * `factor_limit_reached`.
 */
export const addTotp = (
  deps: FactorsDeps,
  userId: string,
  name: string | undefined,
): Promise<{ id: string; secret: string; url: string }> =>
  changeFactors(deps, userId, async (trx, account) => {
    await deleteUnconfirmedTotpsOfUser(trx, userId);
    const factors = await listFactorsOfUser(trx, userId);
    if (factors.length >= FACTORS_MAX) throw new AppError('factor_limit_reached');
    const createdAt = deps.clock();
    const id = deps.newId('fac', createdAt.getTime());
    const secret = newTotpSecret();
    await insertTotp(trx, {
      id,
      userId,
      name: name ?? DEFAULT_NAMES[account.locale],
      sealedSecret: deps.totpSealer.seal(secret, id),
      createdAt,
      confirmedAt: null,
      lastStep: null,
      lastUsedAt: null,
    });
    return { id, ...describeTotp(secret, account.email) };
  });
