import { TOTP } from 'otpauth';

/** Returns the code that an authenticator app shows for a secret. */
export const newTotpCode = (secret: string | undefined): string => new TOTP({ secret: secret ?? '' }).generate();
