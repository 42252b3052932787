import type { Locale } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { type DeviceRequestRecord, findDeviceRequestByUserCode } from '../oidc/index.ts';
import { normalizeUserCode } from './asked-device.ts';
import type { DevicePagesDeps } from './device-frame.ts';
import { tooManyCodesPage } from './device-page.ts';

/** Eight letters without vowels, so that they form no words (RFC 8628 section 6.1). */
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;

export type NamedRequest = { readonly found: DeviceRequestRecord | undefined } | { readonly reply: ReplyContent };

/** Finds the pending request that a person names by its code. A wrong code counts as a guess of this source. */
export const findNamedRequest = async (
  deps: Pick<DevicePagesDeps, 'database' | 'guessLimit'>,
  { typed, source, locale }: { typed: string; source: string; locale: Locale },
): Promise<NamedRequest> => {
  const userCode = normalizeUserCode(typed);
  try {
    const found = await deps.guessLimit.look(source, async () =>
      USER_CODE.test(userCode) ? await findDeviceRequestByUserCode(deps.database, userCode) : undefined,
    );
    return { found };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'too_many_attempts') throw error;
    return { reply: tooManyCodesPage(locale, Number(error.headers['retry-after'])) };
  }
};
