import { Secret, TOTP } from 'otpauth';

/** RFC 4226 section 4 (R6) recommends 160 bits. */
const SECRET_BYTES = 20;
/** Authenticator apps ignore other values. */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Steps before and after the current one, for clock drift and slow typing (RFC 6238 section 5.2). */
const WINDOW_STEPS = 1;

/** Returns a new random secret. */
export const newTotpSecret = (): Buffer => Buffer.from(new Secret({ size: SECRET_BYTES }).bytes);

/** Returns the secret in base32, and the URL that authenticator apps read from a QR code. */
export const describeTotp = (secret: Buffer, email: string): { secret: string; url: string } => {
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
